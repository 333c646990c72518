package restore

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// ragged is a Source that returns a wrong number of samples.
type ragged struct{ channels [][]float64 }

func (r ragged) Read(lo, hi int) ([][]float64, error) { return r.channels, nil }

// TestNilArgumentsAreErrors checks that exported functions do not panic on nil, empty or malformed arguments and return errors that wrap the right
// sentinel.
func TestNilArgumentsAreErrors(t *testing.T) {
	gap := []Gap{{Start: 300, End: 310}}
	x := tones(1000, 1, 0.01)
	r := mustFill(t, x, gap, quick()).Result
	var none context.Context
	var nobody *Result
	with := func(samples [][]float64, rate int, gaps []Gap, o Options) func() error {
		return func() error {
			r, err := Fill(none, samples, rate, gaps, o)
			if err != nil && r != nil {
				t.Errorf("a result with the error %v", err)
			}
			return err
		}
	}
	fill := func(samples [][]float64, rate int, gaps ...Gap) func() error {
		return with(samples, rate, gaps, quick())
	}
	stereo, nan := [][]float64{x[0], x[0]}, clone(x)
	nan[0][320] = math.NaN()
	from := func(s Source) func() error {
		return func() error { return testkit.Error(FillFrom(none, s, 1000, rate, gap, quick())) }
	}
	score := func(r *Result, a, b Source) func() error {
		return func() error { return testkit.Error(r.Score(none, a, b, nil)) }
	}
	modeltest.CheckCalls(t, []modeltest.Call{
		{"Fill without a context", fill(x, rate, gap...), nil},
		{"Fill nil", fill(nil, 0), vssgp.ErrData},
		{"Fill no samples", fill([][]float64{nil}, rate, gap...), vssgp.ErrData},
		{"Fill ragged channels", fill([][]float64{x[0], x[0][:500]}, rate, gap...), vssgp.ErrData},
		{"Fill without a rate", fill(x, 0, gap...), vssgp.ErrData},
		{"Fill no gaps", fill(x, rate), audio.ErrGaps},
		{"Fill gaps that overlap", fill(x, rate, Gap{Start: 300, End: 310}, Gap{Start: 309, End: 320}), audio.ErrGaps},
		{"Fill a gap twice", fill(stereo, rate, Gap{Start: 10, End: 20}, Gap{Start: 19, End: 21, Channel: 2}), audio.ErrGaps},
		{"Fill no such channel", fill(x, rate, Gap{Start: 10, End: 20, Channel: 2}), audio.ErrGaps},
		{"Fill all of a channel", fill(stereo, rate, Gap{Start: 0, End: 1000, Channel: 1}), audio.ErrGaps},
		{"Fill with too little left", with(x, rate, gap, Options{Context: time.Millisecond}), audio.ErrGaps},
		{"Fill clipped samples by vssgp", fill(x, rate, Gap{Start: 10, End: 20, Clipped: true}), vssgp.ErrOptions},
		{"Fill next to NaN", fill(nan, rate, gap...), vssgp.ErrData},
		{"Fill by no method", with(x, rate, gap, Options{Model: vssgp.Options{Method: "gp"}}), vssgp.ErrOptions},
		{"FillFrom nil", from(nil), vssgp.ErrData},
		{"FillFrom no channels", from(ragged{}), vssgp.ErrData},
		{"FillFrom short channels", from(ragged{[][]float64{{1, 2}}}), vssgp.ErrData},
		{"FillFrom ragged channels", from(ragged{[][]float64{x[0], nil}}), vssgp.ErrData},
		{"Around nil", func() error { return testkit.Error(Around(nil, nil).Read(0, 5)) }, vssgp.ErrData},
		{"Excerpts of nothing", func() error { return testkit.Error(Excerpts(1, 0, 0, nil, Options{})) }, vssgp.ErrData},
		{"Excerpts of no gaps", func() error { return testkit.Error(Excerpts(1, 1000, rate, nil, Options{})) }, audio.ErrGaps},
		{"Score of nil", score(nobody, whole(x), whole(x)), vssgp.ErrData},
		{"Score of nothing", score(&Result{}, whole(x), whole(x)), vssgp.ErrData},
		{"Score against nil", score(r, whole(x), nil), vssgp.ErrData},
		{"Score of a nil recording", score(r, nil, whole(x)), vssgp.ErrData},
		{"Score against other channels", score(r, whole(x), ragged{}), vssgp.ErrData},
	})
}

// TestDrawsDiffer checks that two gaps at the same phase of a tone, whose models are nearly equal, have independent draws.
func TestDrawsDiffer(t *testing.T) {
	x := [][]float64{testkit.Numbers(2400, func(i int) float64 {
		return math.Sin(2*math.Pi*float64(i)/20) + 0.1*math.Sin(2*math.Pi*float64(i*i%1200)/1200)
	})}
	o := quick()
	o.Draws, o.Model.Iterations = 1, vssgp.NoIterations
	r := mustFill(t, x, []Gap{{Start: 600, End: 640}, {Start: 1800, End: 1840}}, o)
	if len(r.Excerpts) != 2 {
		t.Fatalf("%d excerpts, want 2", len(r.Excerpts))
	}
	var both, first, second float64
	for i := range 40 {
		a, b := r.Draws[0][0][600+i]-r.Filled[0][600+i], r.Draws[0][0][1800+i]-r.Filled[0][1800+i]
		both, first, second = both+a*b, first+a*a, second+b*b
	}
	if c := both / math.Sqrt(first*second); !(math.Abs(c) < 0.9) {
		t.Errorf("the draws of two gaps are correlated by %.3f about their means, want two draws", c)
	}
}
