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
		cuts, err := o.cuts(cut.n, cut.loud)
		if err == nil {
			err = printFills(cuts, o.fillers())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cuts returns the loud excerpts of n samples, spread over each recording.
func (o *startsTask) cuts(n int, loud float64) (out []*gapfill.Signal, err error) {
	for _, file := range o.files {
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
		return gapfill.VSSGP(impute.Options{Model: m, All: true})
	}
	list := []filler{
		{"silence", gapfill.Silence}, {"linear", gapfill.Linear},
		{"ar 64", ar(64)}, {"ar 128", ar(128)}, {"ar default", gapfill.AR(audio.DefaultAR)},
		{"spectrum", model(vssgp.Options{})},
		{"spectrum, 30 iterations", model(vssgp.Options{Iterations: 30})},
	}
	if o.slow {
		paper := vssgp.Options{
			Init: vssgp.InitPaper, Window: vssgp.WindowNone, Lengthscales: []float64{2. / 16000, 10. / 16000}, // seconds; the paper counts samples
			Features: 100, NoisePrecision: 1000, Iterations: 300,
		}
		ssgp := paper
		ssgp.Method = vssgp.SSGP
		list = append(list, filler{"paper start, 300 iterations", model(paper)}, filler{"ssgp, 300 iterations", model(ssgp)})
	}
	return list
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
	error64, best := make([]float64, len(cuts)), make([]float64, len(cuts))
	for _, m := range methods {
		var sum [6]float64
		for i, c := range cuts {
			began := time.Now()
			f, err := m.fill(context.Background(), c)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", m.name, c.Name, err)
			}
			seconds, missing := time.Since(began).Seconds(), c.Mask()
			e, _ := c.RMSE(f)
			switch m.name {
			case "ar 64":
				error64[i] = e
			case "ar 128":
				best[i] = min(error64[i], e)
			}
			coverage, _, ok := c.Intervals(f)
			if !ok {
				f.Bound, coverage = math.NaN(), math.NaN()
			}
			for j, v := range []float64{e, audio.STFTRMSE(c.Y, f.Mean, missing, c.Rate), math.Log(e / best[i]), coverage, f.Bound, seconds} {
				sum[j] += v / float64(len(cuts))
			}
		}
		fmt.Printf("%-28s %10.4f %10.4f %10s %10s %10s %10.2f\n",
			m.name, sum[0], sum[1], short(math.Exp(sum[2])), short(sum[3]), short(sum[4]), sum[5])
	}
	fmt.Println()
	return nil
}

// short is a number in a table, or a dash.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.4g", v)
}
