package timewarp

import (
	"math/bits"

	"github.com/vssgp/vssgp/internal/ar"
)

// A Menu lists recipes to weigh by trials.
type Menu struct {
	Recipes []Choice
	// Distances are how far from the gap the trial gaps are, in seconds. Without any, all recipes have the same weight.
	Distances []float64
	// Widen multiplies the variances: models chosen by the samples around a gap are a little too sure of it.
	Widen float64
}

// A Choice is a recipe of a menu: one for trials and, where it is not nil, a finer one for the gap itself.
type Choice struct {
	Name         string
	Trial, Final *Recipe
}

// final returns the recipe for the gap itself.
func (c Choice) final() *Recipe {
	if c.Final != nil {
		return c.Final
	}
	return c.Trial
}

// Mixture is the menu for sounds of all kinds.
func Mixture() Menu {
	v, b, s := voice(), bentVoice(), steady()
	return Menu{[]Choice{{"voice", v.likeliest(), &b}, {"steady", s.likeliest(), &s}}, []float64{0.050, 0.110, 0.190}, 1.3}
}

// AR is the menu of the best autoregressive fills: one spectrum, estimated by Burg, and neither warp nor levels.
func AR() Menu {
	m := Menu{Distances: Mixture().Distances, Widen: 1.3}
	for _, e := range []Estimate{{Context: 0.020, Order: 0.009}, {Context: 0.060, Order: 0.022676}, {Context: 0.120, Order: 0.040}} {
		m.Recipes = append(m.Recipes, Choice{"ar", &Recipe{Prefill: e, Estimates: []Estimate{e}, Order: e.Order}, nil})
	}
	return m
}

// furthest is how many seconds from a gap any fill looks.
const furthest = 0.560

// Reach returns how many samples on either side a fill of a gap of n samples looks at.
func Reach(n int, rate float64) int { return n + samples(furthest, rate) }

// A Filling is a gap's fill.
type Filling struct {
	Mean, Variance []float64   // of a sample
	Draws          [][]float64 // [draw][sample], joint
	Weights        []float64   // of the menu's recipes; 0: it takes no part
	Trials         int         // that chose them; 0: there was no space for any

	exact float64 // what trials say that variances are too large by; 1 if nothing
}

// A Filler fills gaps of recordings of one rate, one at a time.
type Filler struct {
	menu  Menu
	rate  float64
	means map[int]*ar.Mean // by size
}

// NewFiller returns a Filler for a menu and a rate in hertz.
func NewFiller(m Menu, rate float64) *Filler { return &Filler{m, rate, map[int]*ar.Mean{}} }

// resolution is on how many frequencies a mean of spectra is computed, times its order.
const resolution = 8

// mean returns the averager on at least n frequencies.
func (f *Filler) mean(n int) *ar.Mean {
	size := 1 << bits.Len(uint(n-1))
	m := f.means[size]
	if m == nil {
		m = ar.NewMean(size)
		f.means[size] = m
	}
	return m
}
