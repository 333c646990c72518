package audio

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestFillLinear(t *testing.T) {
	nan := math.NaN()
	x := []float64{nan, nan, 2, nan, nan, nan, 6, 1, nan}
	gaps := []Gap{{Start: 0, End: 2}, {Start: 3, End: 6}, {Start: 8, End: 9}}
	testkit.Equal(t, FillLinear(x, gaps), []float64{2, 2, 2, 3, 4, 5, 6, 1, 1}, "linear")
}

// blank is x with NaN in the gaps, which no fill may look at.
func blank(x []float64, gaps []Gap) []float64 {
	y := slices.Clone(x)
	for _, g := range gaps {
		for n := g.Start; n < g.End; n++ {
			y[n] = math.NaN()
		}
	}
	return y
}

// Steady sinusoids follow an autoregression without noise, the same forward and backward, and are recovered exactly.
func TestFillARExact(t *testing.T) {
	x := make([]float64, 1000)
	for n := range x {
		for i, f := range []float64{0.01, 0.033, 0.12, 0.2, 0.41} {
			x[n] += 0.1 / float64(i+1) * math.Cos(2*math.Pi*f*float64(n)+float64(i))
		}
	}
	inner := []Gap{{Start: 80, End: 120}, {Start: 300, End: 340}, {Start: 500, End: 540}, {Start: 720, End: 760}, {Start: 880, End: 920}}
	for _, c := range []struct {
		name string
		gaps []Gap
		opt  AROptions
	}{
		{"order as it should be", inner, AROptions{10, 1000, 40}},
		{"order too high", inner, AROptions{32, 1000, 20}},
		{"excerpts", inner, AROptions{24, 200, 30}},
		{"both ends", []Gap{{Start: 0, End: 20}, {Start: 490, End: 500}, {Start: 980, End: 1000}}, AROptions{16, 300, 30}},
	} {
		y := testkit.Must(FillAR(blank(x, c.gaps), c.gaps, c.opt))(t)
		if e := RMSE(x, y, nil); !(e < 1e-6) {
			t.Errorf("%s: error %g, want less than 1e-6", c.name, e)
		}
	}
}

func TestFillAROddities(t *testing.T) {
	x := make([]float64, 100)
	for n := range x {
		x[n] = math.Sin(float64(n))
	}
	for _, c := range []struct {
		name string
		x    []float64
		gaps []Gap
		opt  AROptions
	}{
		{"two samples left", x[:10], []Gap{{Start: 1, End: 9}}, AROptions{64, 100, 3}},
		{"one sample left", x[:10], []Gap{{Start: 1, End: 10}}, AROptions{64, 100, 3}},
		{"context of one", x, []Gap{{Start: 50, End: 60}, {Start: 61, End: 70}}, AROptions{8, 1, 3}},
		{"context past overflow", x, []Gap{{Start: 50, End: 60}}, AROptions{8, math.MaxInt, 3}},
		{"silence", make([]float64, 100), []Gap{{Start: 50, End: 60}}, AROptions{8, 30, 3}},
		{"constant", slices.Repeat([]float64{0.5}, 100), []Gap{{Start: 50, End: 60}}, AROptions{8, 30, 3}},
		{"wide range", append(slices.Repeat([]float64{1e-300}, 50), slices.Repeat([]float64{1}, 50)...), []Gap{{Start: 40, End: 60}}, AROptions{8, 30, 3}},
	} {
		y := testkit.Must(FillAR(blank(c.x, c.gaps), c.gaps, c.opt))(t)
		mask := Mask(c.gaps, len(c.x))
		for n, v := range y {
			if math.IsNaN(v) || math.Abs(v) > 10 || !mask[n] && v != c.x[n] {
				t.Fatalf("%s: sample %d became %v", c.name, n, v)
			}
		}
	}
	testkit.Fails(t, testkit.Error(FillAR(x, []Gap{{Start: 90, End: 110}}, DefaultAR(16000))), ErrGaps, "", "gap outside")
}

// speech is the sample that comes with the project.
func speech(t *testing.T) (clean, gapped *Recording, gaps []Gap) {
	t.Helper()
	open := func(name string) *Recording {
		return testkit.Must(Open("../testdata/" + name))(t)
	}
	f := testkit.Must(os.Open("../testdata/speech_gaps.csv"))(t)
	defer f.Close()
	gaps = testkit.Must(ReadGaps(f, 16000))(t)
	return open("speech.wav"), open("speech_gapped.wav"), gaps
}

func TestSpeechSample(t *testing.T) {
	clean, gapped, gaps := speech(t)
	x := clean.Samples[0]
	y := testkit.Must(FillAR(gapped.Samples[0], gaps, DefaultAR(clean.Rate)))(t)
	test := Mask(gaps, len(x))
	ar, linear, silence := RMSE(x, y, test), RMSE(x, FillLinear(x, gaps), test), RMSE(x, make([]float64, len(x)), test)
	t.Logf("test RMSE: AR %.4f, linear %.4f, silence %.4f; AR's SNR %.1f dB", ar, linear, silence, SNR(x, y, test))
	if ar > 0.6*min(linear, silence) {
		t.Errorf("AR leaves %.4f, linear %.4f, silence %.4f; want at most 0.6 of either", ar, linear, silence)
	}
	again, _ := FillAR(gapped.Samples[0], gaps, DefaultAR(clean.Rate))
	if !slices.Equal(y, again) {
		t.Error("a second run gives other bits")
	}
}
