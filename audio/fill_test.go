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

func TestFillAROddities(t *testing.T) {
	x := make([]float64, 100)
	for n := range x {
		x[n] = math.Sin(float64(n))
	}
	for _, c := range []struct {
		name string
		x    []float64
		gaps []Gap
		rate int
	}{
		{"two samples left", x[:10], []Gap{{Start: 1, End: 9}}, 8000},
		{"one sample left", x[:10], []Gap{{Start: 1, End: 10}}, 8000},
		{"context of one", x, []Gap{{Start: 50, End: 60}, {Start: 61, End: 70}}, 40},
		{"context past overflow", x, []Gap{{Start: 50, End: 60}}, math.MaxInt},
		{"silence", make([]float64, 100), []Gap{{Start: 50, End: 60}}, 1000},
		{"constant", slices.Repeat([]float64{0.5}, 100), []Gap{{Start: 50, End: 60}}, 1000},
		{"wide range", append(slices.Repeat([]float64{1e-300}, 50), slices.Repeat([]float64{1}, 50)...), []Gap{{Start: 40, End: 60}}, 1000},
	} {
		y := testkit.Must(FillAR(blank(c.x, c.gaps), c.gaps, c.rate))(t)
		mask := Mask(c.gaps, len(c.x))
		for n, v := range y {
			if math.IsNaN(v) || math.Abs(v) > 10 || !mask[n] && v != c.x[n] {
				t.Fatalf("%s: sample %d became %v", c.name, n, v)
			}
		}
	}
	testkit.Fails(t, testkit.Error(FillAR(x, []Gap{{Start: 90, End: 110}}, 16000)), ErrGaps, "", "gap outside")
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
	y := testkit.Must(FillAR(gapped.Samples[0], gaps, clean.Rate))(t)
	test := Mask(gaps, len(x))
	ar, linear, silence := RMSE(x, y, test), RMSE(x, FillLinear(x, gaps), test), RMSE(x, make([]float64, len(x)), test)
	t.Logf("test RMSE: AR %.4f, linear %.4f, silence %.4f; AR's SNR %.1f dB", ar, linear, silence, SNR(x, y, test))
	if ar > 0.6*min(linear, silence) {
		t.Errorf("AR leaves %.4f, linear %.4f, silence %.4f; want at most 0.6 of either", ar, linear, silence)
	}
	again, _ := FillAR(gapped.Samples[0], gaps, clean.Rate)
	if !slices.Equal(y, again) {
		t.Error("a second run gives other bits")
	}
}
