package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/score"
)

// startsTask is `bench starts`.
type startsTask struct {
	rms   float64
	most  int
	slow  bool
	seed  uint64
	files []string
}

func (o *startsTask) flags(set *flag.FlagSet) {
	set.Float64Var(&o.rms, "rms", 0.05, "least rms of a vowel before scaling, in full scale")
	set.IntVar(&o.most, "most", 4, "cuts of each kind from a recording")
	set.BoolVar(&o.slow, "slow", true, "the optimised starts too")
	set.Uint64Var(&o.seed, "seed", 1, "of the gaps' places and the starts")
}

func (o *startsTask) check(files []string) error {
	if o.files = files; len(files) == 0 {
		o.files = []string{"testdata/speech.wav"}
	}
	return nil
}

// Gaps of the cuts, in samples.
const (
	gapLength = 40
	gapEvery  = 200 // on average
)

func (o *startsTask) run() error {
	for _, cut := range []struct {
		n    int
		loud float64
	}{{1000, o.rms}, {4000, o.rms / 2}} {
		var cuts []*gapfill.Signal
		for _, file := range o.files {
			c, err := o.cuts(file, cut.n, cut.loud)
			if err != nil {
				return err
			}
			cuts = append(cuts, c...)
		}
		if err := printFills(cuts, o.fillers()); err != nil {
			return err
		}
	}
	return nil
}

// cuts are the loud excerpts of n samples, spread over a recording.
func (o *startsTask) cuts(file string, n int, loud float64) (out []*gapfill.Signal, err error) {
	r, err := audio.Open(file)
	if err != nil {
		return nil, err
	}
	x := r.Samples[0]
	var at []int
	for s := 0; s+n <= len(x); s += n {
		if score.RMS(x[s:s+n]) >= loud {
			at = append(at, s)
		}
	}
	for i := range min(o.most, len(at)) {
		s := at[i*len(at)/min(o.most, len(at))]
		c := &gapfill.Signal{Name: fmt.Sprintf("%s@%d", filepath.Base(file), s), Rate: r.Rate}
		if c.Y, err = gapfill.Scale(x[s : s+n]); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		rng := rand.New(rand.NewPCG(o.seed, uint64(s)))
		for g := range n / gapEvery {
			a := g*gapEvery + gapLength + rng.IntN(gapEvery-2*gapLength)
			c.Gaps = append(c.Gaps, audio.Gap{Start: a, End: a + gapLength})
		}
		out = append(out, c)
	}
	return out, nil
}

// A filler is a method with a name.
type filler struct {
	name string
	fill gapfill.Method
}

// fillers are the methods compared.
func (o *startsTask) fillers() []filler {
	ar := func(order int) gapfill.Method {
		return gapfill.AR(func(rate int) audio.AROptions {
			a := audio.DefaultAR(rate)
			a.Order = order
			return a
		})
	}
	model := func(m vssgp.Options) gapfill.Method {
		m.Seed = o.seed
		return gapfill.Impute(impute.Options{Model: m, All: true})
	}
	list := []filler{
		{"silence", gapfill.Silence}, {"linear", gapfill.Linear},
		{"ar 64", ar(64)}, {"ar 128", ar(128)}, {"ar default", gapfill.AR(audio.DefaultAR)},
		{"spectrum", model(vssgp.Options{})},
		{"spectrum, 30 iterations", model(vssgp.Options{Iterations: 30})},
	}
	if !o.slow {
		return list
	}
	paper := vssgp.Options{
		Init: vssgp.InitPaper, Window: vssgp.WindowNone, Lengthscales: []float64{2. / 16000, 10. / 16000}, // seconds; the paper counts samples
		Features: 100, NoisePrecision: 1000, Iterations: 300,
	}
	ssgp := paper
	ssgp.Method = vssgp.SSGP
	return append(list, filler{"paper start, 300 iterations", model(paper)}, filler{"ssgp, 300 iterations", model(ssgp)})
}

// printFills prints each method's mean test RMSE and STFT RMSE over the cuts, the geometric mean of its ratio to the better of the fills of
// order 64 and 128, coverage, bound and time.
func printFills(cuts []*gapfill.Signal, methods []filler) error {
	if len(cuts) == 0 {
		return errors.New("no cut is loud enough: lower -rms")
	}
	fmt.Printf("%d cuts of %d samples:", len(cuts), len(cuts[0].Y))
	for _, c := range cuts {
		fmt.Print(" ", c.Name)
	}
	fmt.Printf("\n%-28s %10s %10s %10s %10s %10s %10s\n", "", "test RMSE", "test STFT", "ratio", "coverage", "bound", "seconds")
	error64, best, n := make([]float64, len(cuts)), make([]float64, len(cuts)), float64(len(cuts))
	for _, m := range methods {
		var rmse, stft, ratio, inside, bound, seconds float64
		for i, c := range cuts {
			began := time.Now()
			f, err := m.fill(context.Background(), c)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", m.name, c.Name, err)
			}
			seconds += time.Since(began).Seconds() / n
			missing := c.Mask()
			e := audio.RMSE(c.Y, f.Mean, missing)
			switch m.name {
			case "ar 64":
				error64[i] = e
			case "ar 128":
				best[i] = min(error64[i], e)
			}
			rmse, stft, ratio = rmse+e/n, stft+audio.STFTRMSE(c.Y, f.Mean, missing, c.Rate)/n, ratio+math.Log(e/best[i])/n
			coverage, _, ok := c.Intervals(f)
			if !ok {
				f.Bound, coverage = math.NaN(), math.NaN()
			}
			inside, bound = inside+coverage/n, bound+f.Bound/n
		}
		fmt.Printf("%-28s %10.4f %10.4f %10s %10s %10s %10.2f\n",
			m.name, rmse, stft, short(math.Exp(ratio)), short(inside), short(bound), seconds)
	}
	fmt.Println()
	return nil
}

// short is a number in a table, a dash where there is none.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.4g", v)
}
