package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/score"
)

// A cut is a stretch of a recording, scaled to rms 0.1, with gaps.
type cut struct {
	name string
	y    []float64
	rate int
	gaps []audio.Gap
}

// A filler is one way to fill a cut: the mean and, from a model, its standard
// deviation and bound.
type filler struct {
	name string
	fill func(c cut) (mean, sd []float64, bound float64, err error)
}

const (
	gapLength = 40  // samples
	gapEvery  = 200 // samples, on average
	target    = 0.1 // rms of a cut
)

func runStarts(args []string) error {
	set := flag.NewFlagSet("starts", flag.ExitOnError)
	loud := set.Float64("rms", 0.05, "least rms of a vowel before scaling, in full scale")
	most := set.Int("most", 4, "cuts of each kind from a recording")
	slow := set.Bool("slow", true, "the optimised starts too")
	seed := set.Uint64("seed", 1, "of the gaps' places and the starts")
	_ = set.Parse(args) // ExitOnError
	files := set.Args()
	if len(files) == 0 {
		files = []string{"testdata/speech.wav"}
	}
	for _, n := range []int{1000, 4000} {
		var cuts []cut
		for _, file := range files {
			c, err := cutsOf(file, n, *most, *loud, *seed)
			if err != nil {
				return err
			}
			cuts = append(cuts, c...)
		}
		if err := fillTable(cuts, fillers(*seed, *slow)); err != nil {
			return err
		}
	}
	return nil
}

// cutsOf takes the loud stretches of n samples (of 4000: any), spread over the
// recording.
func cutsOf(file string, n, most int, loud float64, seed uint64) ([]cut, error) {
	r, err := audio.Open(file)
	if err != nil {
		return nil, err
	}
	if n > 1000 {
		loud /= 2
	}
	x := r.Samples[0]
	var at []int
	for s := 0; s+n <= len(x); s += n {
		if score.RMS(x[s:s+n]) >= loud {
			at = append(at, s)
		}
	}
	var out []cut
	for i := 0; i < min(most, len(at)); i++ {
		s := at[i*len(at)/min(most, len(at))]
		rng := rand.New(rand.NewPCG(seed, uint64(s)))
		c := cut{name: fmt.Sprintf("%s@%d", filepath.Base(file), s), rate: r.Rate, y: make([]float64, n)}
		scale := target / score.RMS(x[s:s+n])
		for j := range c.y {
			c.y[j] = scale * x[s+j]
		}
		for g := 0; (g+1)*gapEvery <= n; g++ {
			a := g*gapEvery + gapLength + rng.IntN(gapEvery-2*gapLength)
			c.gaps = append(c.gaps, audio.Gap{Start: a, End: a + gapLength})
		}
		out = append(out, c)
	}
	return out, nil
}

// fillers are the methods compared.
func fillers(seed uint64, slow bool) []filler {
	ar := func(order int) func(cut) ([]float64, []float64, float64, error) {
		return func(c cut) ([]float64, []float64, float64, error) {
			o := audio.DefaultAR(c.rate)
			if order > 0 {
				o.Order = order
			}
			y, err := audio.FillAR(audio.FillSilence(c.y, c.gaps), c.gaps, o)
			return y, nil, math.NaN(), err
		}
	}
	gp := func(o vssgp.Options) func(cut) ([]float64, []float64, float64, error) {
		o.Seed = seed
		return func(c cut) ([]float64, []float64, float64, error) {
			masked := audio.FillSilence(c.y, c.gaps)
			r, err := impute.Fill(context.Background(), [][]float64{masked}, c.rate, c.gaps, impute.Options{Model: o, All: true})
			if err != nil {
				return nil, nil, 0, err
			}
			return r.Filled[0], r.SD[0], r.Bound, nil
		}
	}
	step := func(n float64) float64 { return n / 16000 } // seconds; the paper counts samples
	paper := vssgp.Options{Init: vssgp.InitPaper, Window: vssgp.WindowNone, Lengthscales: []float64{step(2), step(10)}, Features: 100, NoisePrecision: 1000, Iterations: 300}
	ssgp := paper
	ssgp.Method = vssgp.SSGP
	list := []filler{
		{"silence", func(c cut) ([]float64, []float64, float64, error) {
			return audio.FillSilence(c.y, c.gaps), nil, math.NaN(), nil
		}},
		{"linear", func(c cut) ([]float64, []float64, float64, error) {
			return audio.FillLinear(c.y, c.gaps), nil, math.NaN(), nil
		}},
		{"ar 64", ar(64)}, {"ar 128", ar(128)}, {"ar default", ar(0)},
		{"spectrum", gp(vssgp.Options{})},
		{"spectrum, 30 iterations", gp(vssgp.Options{Iterations: 30})},
	}
	if slow {
		list = append(list, filler{"paper start, 300 iterations", gp(paper)}, filler{"ssgp, 300 iterations", gp(ssgp)})
	}
	return list
}

// fillTable prints each method's mean test RMSE and STFT RMSE over the cuts, the
// geometric mean of its ratio to the better of the fills of order 64 and 128,
// coverage, bound and time.
func fillTable(cuts []cut, methods []filler) error {
	if len(cuts) == 0 {
		return fmt.Errorf("no cut is loud enough: lower -rms")
	}
	fmt.Printf("%d cuts of %d samples:", len(cuts), len(cuts[0].y))
	for _, c := range cuts {
		fmt.Print(" ", c.name)
	}
	fmt.Printf("\n%-28s %10s %10s %10s %10s %10s %10s\n", "", "test RMSE", "test STFT", "ratio", "coverage", "bound", "seconds")
	error64 := make([]float64, len(cuts))
	best := make([]float64, len(cuts))
	for _, m := range methods {
		var row fillScore
		for i, c := range cuts {
			began := time.Now()
			mean, sd, bound, err := m.fill(c)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", m.name, c.name, err)
			}
			s := scoreOf(c, mean, sd)
			s.seconds, s.bound = time.Since(began).Seconds(), bound
			switch m.name {
			case "ar 64":
				error64[i] = s.rmse
			case "ar 128":
				best[i] = min(error64[i], s.rmse)
			}
			s.ratio = math.Log(s.rmse / best[i])
			row.add(s, float64(len(cuts)))
		}
		fmt.Printf("%-28s %10.4f %10.4f %10s %10s %10s %10.2f\n", m.name, row.rmse, row.stft, short(math.Exp(row.ratio)), short(row.coverage), short(row.bound), row.seconds)
	}
	fmt.Println()
	return nil
}

// fillScore is a method's figures on a cut, or their means.
type fillScore struct{ rmse, stft, ratio, coverage, bound, seconds float64 }

func (s *fillScore) add(o fillScore, n float64) {
	s.rmse += o.rmse / n
	s.stft += o.stft / n
	s.ratio += o.ratio / n
	s.coverage += o.coverage / n
	s.bound += o.bound / n
	s.seconds += o.seconds / n
}

func scoreOf(c cut, mean, sd []float64) fillScore {
	missing := audio.Mask(c.gaps, len(c.y))
	s := fillScore{rmse: audio.RMSE(c.y, mean, missing), stft: audio.STFTRMSE(c.y, mean, missing, c.rate), coverage: math.NaN()}
	if sd == nil {
		return s
	}
	var in, sdIn, yIn []float64
	for i, m := range missing {
		if m {
			in, sdIn, yIn = append(in, mean[i]), append(sdIn, sd[i]), append(yIn, c.y[i])
		}
	}
	s.coverage = score.Coverage(in, sdIn, yIn)
	return s
}

// short is a number in a table, a dash where there is none.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.4g", v)
}
