package features

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/score"
	"github.com/vssgp/vssgp/internal/warp"
)

const rate = 8000

// clock is a glide and a change of level a second.
type clock struct{ glide, level float64 }

var clocks = []clock{{0, 0}, {0, 12}, {1.5, 0}, {-1.5, -8}}

// menu has one recipe with one clock and the mean of two spectra. Of its two levels, which differ in their last digits alone, one is kept.
func (c clock) menu() warp.Menu {
	r := &warp.Recipe{
		Prefill: warp.Estimate{Context: 0.020, Order: 0.004},
		Glide:   warp.Grid{Values: []float64{c.glide}, SD: 1}, Level: warp.Grid{Values: []float64{c.level, c.level + 1e-9}, SD: 1e3},
		Evidence: warp.Estimate{Hann: true, Context: 0.040, Order: 0.004}, Noise: 18, Temper: 0.3, Most: 1,
		Estimates: []warp.Estimate{{Hann: true, Context: 0.030, Order: 0.005}, {Hann: true, Context: 0.050, Order: 0.005}},
		Order:     0.005,
	}
	return warp.Menu{Recipes: []warp.Choice{{Name: "one", Trial: r}}, Widen: 1}
}

// voice is eight harmonics, whose pitch glides and whose level changes, and some noise.
func (c clock) voice(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 5))
	y := make([]float64, n)
	for i := range y {
		t := (float64(i) - float64(n)/2) / rate
		for h := 1.0; h <= 8; h++ {
			y[i] += math.Cos(2*math.Pi*h*140*t*(1+c.glide*t/2)+h*h) / h
		}
		y[i] = math.Exp(c.level*t) * (y[i] + 0.05*rng.NormFloat64())
	}
	return y
}

// A problem is a gap in a voice with its one candidate.
type problem struct {
	z         []float64 // the gap is empty
	gap       [2]int
	missing   []bool
	want      *warp.Filling
	candidate warp.Candidate
	r         func(lag float64) float64 // the candidate's
}

func (c clock) problem(t *testing.T) problem {
	p := problem{z: c.voice(2000), gap: [2]int{960, 1000}}
	p.missing = audio.Mask([]audio.Gap{{Start: 960, End: 1000}}, len(p.z))
	clear(p.z[960:1000])
	f := warp.NewFiller(c.menu(), rate)
	candidates, err := f.Candidates(t.Context(), p.z, [][2]int{p.gap}, 0)
	if err != nil || len(candidates) != 1 || candidates[0].Weight != 1 {
		t.Fatalf("%+v: candidates %v, %v", c, candidates, err)
	}
	p.candidate = candidates[0]
	p.r = autocovariance(p.candidate.Model)
	if p.want, err = f.Fill(t.Context(), p.z, [][2]int{p.gap}, 0, 0, 1); err != nil {
		t.Fatal(err)
	}
	return p
}

// say is the candidate as features.
func (p *problem) say(t *testing.T, set Settings) *part {
	q, err := set.lay(&p.candidate, p.z, p.gap, p.missing)
	if err == nil {
		err = set.say(t.Context(), q)
	}
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// autocovariance is a model's at any lag: the integral of its density times a cosine, by the midpoint rule.
func autocovariance(m ar.Model) func(lag float64) float64 {
	const n = 1 << 13
	density := make([]float64, n)
	for i := range density {
		re, im := 0.0, 0.0
		for j, a := range m.A {
			s, c := math.Sincos(math.Pi * (float64(i) + 0.5) / n * float64(j))
			re, im = re+a*c, im+a*s
		}
		density[i] = m.E / (re*re + im*im)
	}
	known := map[float64]float64{}
	return func(lag float64) float64 {
		lag = math.Abs(lag)
		r, ok := known[lag]
		for i := 0; i < n && !ok; i++ {
			r += density[i] / n * math.Cos(math.Pi*(float64(i)+0.5)/n*lag)
		}
		known[lag] = r
		return r
	}
}

// covariance is that of the recording's samples i and j by the candidate's model: the autocovariance at τ(x_i) − τ(x_j), times both levels.
func (p *problem) covariance(i, j []int) *mat.Dense {
	k := mat.NewDense(len(i), len(j), nil)
	for a, i := range i {
		u, level := p.candidate.Row(i)
		for b, j := range j {
			v, other := p.candidate.Row(j)
			k.Set(a, b, level*other*p.r(u-v))
		}
	}
	return k
}

// featured is the same by features: E[φ(x)]·E[φ(x')], by the first formula of DESIGN.md, times both levels.
func (p *problem) featured(m *vssgp.Model, i []int) *mat.Dense {
	f := m.Params.Features()
	phi := mat.NewDense(len(i), f.M, nil)
	for n, i := range i {
		x, level := p.candidate.Row(i)
		for k := range f.M {
			d := x - f.Center[k]
			phi.Set(n, k, level*f.Amp[k]*math.Exp(-f.Decay[k]*d*d/2)*math.Cos(f.Freq[k]*d+f.Phase[k]))
		}
	}
	k := &mat.Dense{}
	k.Mul(phi, phi.T())
	return k
}

// rungs are settings of ever more cells.
var rungs = []Settings{
	{Reach: 1.5, Fine: 2, Most: 40, Hide: 1e-2, Floor: 1e-6}, {Reach: 1.5, Fine: 4, Most: 200, Hide: 1e-3, Floor: 1e-6},
	{Reach: 1.1, Fine: 8, Most: 1500, Hide: 1e-6, Floor: 1e-6},
}

// TestCovariance: the features' covariance is the candidate's, over the gap and around it. The error shrinks with the number of cells.
func TestCovariance(t *testing.T) {
	for _, c := range clocks {
		p := c.problem(t)
		var i []int
		for n := p.gap[0] - 50; n < p.gap[1]+50; n += 7 {
			i = append(i, n)
		}
		want := p.covariance(i, i)
		for rung, within := range []float64{0.05, 0.025, 0.01} {
			q, err := rungs[rung].lay(&p.candidate, p.z, p.gap, p.missing)
			if err != nil {
				t.Fatal(err)
			}
			got, worst := p.featured(q.model, i), 0.0
			for a := range i {
				for b := range i {
					worst = max(worst, math.Abs(got.At(a, b)-want.At(a, b))/math.Sqrt(want.At(a, a)*want.At(b, b)))
				}
			}
			if worst > within {
				t.Errorf("%+v, %d cells: the correlation is up to %v off, want %v", c, q.model.Params.L, worst, within)
			}
		}
	}
}

// TestGP: with many cells the gap's moments, and the bound with the Jacobian, are those of the Gaussian process with the candidate's
// covariance, on the samples as they are, of which some behind the gap are missing too.
func TestGP(t *testing.T) {
	for _, c := range []clock{{0, 12}, {-1.5, -8}} {
		p := c.problem(t)
		for i := 1010; i < 1030; i++ {
			p.z[i], p.missing[i] = 1e3, true
		}
		q := p.say(t, rungs[2])
		reach := (len(q.rows.X) + 20) / 2
		var known, gap []int
		for i := p.gap[0] - reach; i < p.gap[1]+reach; i++ {
			if p.gap[0] <= i && i < p.gap[1] {
				gap = append(gap, i)
			} else if !p.missing[i] {
				known = append(known, i)
			}
		}
		k, across := p.covariance(known, known), p.covariance(gap, known)
		noise := 1 / q.model.Params.NoisePrecision[0]
		sym, y := mat.NewSymDense(len(known), nil), mat.NewVecDense(len(known), nil)
		for a, i := range known {
			_, level := p.candidate.Row(i)
			y.SetVec(a, p.z[i])
			for b := range a {
				sym.SetSym(a, b, k.At(a, b))
			}
			sym.SetSym(a, a, k.At(a, a)+noise*level*level)
		}
		var f mat.Cholesky
		var solved mat.VecDense
		if !f.Factorize(sym) || f.SolveVecTo(&solved, y) != nil {
			t.Fatal("the covariance is not positive definite")
		}
		evidence := -0.5*mat.Dot(y, &solved) - 0.5*f.LogDet() - 0.5*float64(len(known))*math.Log(2*math.Pi)
		if got := q.bound + q.jacobian; math.Abs(got-evidence) > 0.5 {
			t.Errorf("%+v: the bound with the Jacobian is %v, log p(y) is %v", c, got, evidence)
		}
		for a, i := range gap {
			_, level := p.candidate.Row(i)
			row := mat.VecDenseCopyOf(across.RowView(a))
			var weights mat.VecDense
			if err := f.SolveVecTo(&weights, row); err != nil {
				t.Fatal(err)
			}
			mean, variance := mat.Dot(row, &solved), level*level*(p.r(0)+noise)-mat.Dot(row, &weights)
			if math.Abs(q.mean[a]-mean) > 0.03*math.Sqrt(variance) || math.Abs(q.variance[a]/variance-1) > 0.03 {
				t.Fatalf("%+v, sample %d: %v ± %v, want %v ± %v", c, a, q.mean[a], math.Sqrt(q.variance[a]), mean, math.Sqrt(variance))
			}
		}
	}
}

// TestAgree: a gap's fill by features is package warp's by the exact covariance but for what is hidden and, with a warp, for the
// interpolation there, which the features need not.
func TestAgree(t *testing.T) {
	for _, c := range clocks {
		p := c.problem(t)
		sd := math.Sqrt(floats.Sum(p.want.Variance) / float64(len(p.want.Variance)))
		for rung, within := range []float64{0.5, 0.2, 0.01} {
			if c.glide != 0 {
				within = max(within, 0.25)
			}
			q := p.say(t, rungs[rung])
			if e := score.RMSE(q.mean, p.want.Mean) / sd; e > within {
				t.Errorf("%+v, %d cells: %v standard deviations off package warp's fill, want %v", c, q.model.Params.L, e, within)
			}
		}
	}
}

// TestSpectrum: cells hold the power, the strongest are kept, and a line is at its own frequency however wide its cell is.
func TestSpectrum(t *testing.T) {
	line := ar.Model{A: []float64{1, -2 * 0.999 * math.Cos(2*math.Pi*0.1234), 0.999 * 0.999}, E: 1}
	power := autocovariance(line)(0)
	all, rest := spectrum(line, 100, 100, 0)
	sum := rest
	for _, c := range all {
		sum += c.power
	}
	if len(all) != 50 || math.Abs(sum/power-1) > 1e-3 || rest > 1e-9*power {
		t.Errorf("%d cells of %v and %v besides, want 50 of %v", len(all), sum, rest, power)
	}
	few, rest := spectrum(line, 100, 1, 0)
	if len(few) != 1 || math.Abs(few[0].freq-0.1234) > 5e-4 || math.Abs((few[0].power+rest)/sum-1) > 1e-12 || rest > 0.1*power {
		t.Errorf("the strongest cell is %v, %v besides; want 0.1234", few, rest)
	}
	if hidden, rest := spectrum(line, 100, 100, 0.05); rest > 0.05*power || len(hidden) > 5 {
		t.Errorf("%d cells leave %v of %v", len(hidden), rest, power)
	}
	if none, rest := spectrum(ar.Model{A: []float64{1}}, 100, 100, 0); len(none) != 0 || rest != 0 {
		t.Errorf("silence has the cells %v and %v", none, rest)
	}
}

// TestAmplitudes: under a sure prior all stays; under a wider one the bound rises, and nothing but amplitudes and the noise moves.
func TestAmplitudes(t *testing.T) {
	p := clock{1.5, 12}.problem(t)
	set := rungs[0]
	began := p.say(t, set)
	set.Iterations = 10
	before := -1.0
	for _, sd := range []float64{1e-3, 0.25, 1} {
		set.Free = sd
		q := p.say(t, set)
		moved := 0.0
		for i, v := range q.model.Params.Variance {
			moved = max(moved, math.Abs(math.Log(v/began.model.Params.Variance[i]))/2)
		}
		gained := q.bound - began.bound
		if moved > 6*sd || moved == 0 || gained <= before || q.iterations < 1 || q.iterations > 10 {
			t.Errorf("sd %v: %d iterations moved an amplitude by %v and raised the bound by %v, after %v", sd, q.iterations, moved, gained, before)
		}
		before = gained
		a, b := q.model.Params, began.model.Params
		for _, fixed := range [][2][]float64{{a.Frequency, b.Frequency}, {a.Lengthscale, b.Lengthscale}, {a.FreqMean, b.FreqMean}, {a.FreqVar, b.FreqVar}} {
			if !slices.Equal(fixed[0], fixed[1]) {
				t.Errorf("sd %v: what is fixed moved", sd)
			}
		}
	}
	set.Free, set.Iterations = 0.25, 300
	checkMode(t, p.say(t, set), began, set.Free)
	set.Free, set.Iterations, set.All = 0, 10, true
	if q := p.say(t, set); q.bound <= before || slices.Equal(q.model.Params.Frequency, began.model.Params.Frequency) {
		t.Errorf("with everything free the bound is %v, the start's %v", q.bound, began.bound)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := set.say(ctx, began); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// checkMode: where amplitudes end, the bound's slope along the logarithm of each, and of the noise, is what the prior pulls back.
func checkMode(t *testing.T, q, began *part, sd float64) {
	params := q.model.Params
	slope := func(v *float64, power float64) float64 {
		at, bounds := *v, [2]float64{}
		for i, h := range []float64{1e-4, -1e-4} {
			*v = at * math.Exp(power*h)
			e, err := q.model.Evaluate(q.rows, vssgp.Exact, nil, false)
			if err != nil {
				t.Fatal(err)
			}
			bounds[i] = e.Bound
		}
		*v = at
		return (bounds[0] - bounds[1]) / 2e-4
	}
	for i := range params.L {
		pull := math.Log(params.Variance[i]/began.model.Params.Variance[i]) / 2 / (sd * sd)
		if got := slope(&params.Variance[i], 2); math.Abs(got-pull) > 0.05 {
			t.Errorf("component %d: the bound's slope is %v, the prior's %v", i, got, -pull)
		}
	}
	pull := -math.Log(params.NoisePrecision[0]/began.model.Params.NoisePrecision[0]) / 2 / (sd * sd)
	if got := slope(&params.NoisePrecision[0], -2); math.Abs(got-pull) > 0.05 {
		t.Errorf("noise: the bound's slope is %v, the prior's %v", got, -pull)
	}
}

// TestWeigh: a recipe's candidates share its weight by their tempered bounds and priors.
func TestWeigh(t *testing.T) {
	one := func(recipe int, weight, bound, jacobian, prior float64) *part {
		return &part{Candidate: &warp.Candidate{Recipe: recipe, LogPrior: prior, Temper: 0.5}, weight: weight, bound: bound, jacobian: jacobian}
	}
	parts := []*part{one(0, 0.1, 2003, 0, 0), one(0, 0.1, 2000, 1, 2), one(0, 0.4, -9000, 0, 0), one(2, 0.4, 7, 0, 0)}
	(&Settings{Power: 2}).weigh(parts)
	half := 0.6 / 2 // the first two have 2003 each
	for i, want := range []float64{half, half, 0, 0.4} {
		if math.Abs(parts[i].weight-want) > 1e-12 {
			t.Errorf("part %d has the weight %v, want %v", i, parts[i].weight, want)
		}
	}
}

// TestMix: the moments of a mixture of two Gaussians, by hand.
func TestMix(t *testing.T) {
	parts := []*part{
		{weight: 0.75, mean: []float64{1, 0}, variance: []float64{4, 1}},
		{weight: 0.25, mean: []float64{-3, 0}, variance: []float64{8, 5}},
	}
	mean, sd := []float64{9, 9}, []float64{9, 9}
	mix(parts, 2, mean, sd)
	if !slices.Equal(mean, []float64{0, 0}) || !floats.EqualApprox(sd, []float64{4, 2}, 1e-15) { // √(2·(0.75·(4+1) + 0.25·(8+9))), √(2·2)
		t.Errorf("mean %v, standard deviation %v; want 0 and 4, 0 and 2", mean, sd)
	}
}

// TestMethod: two gaps close together, one of them at the end, are filled better than by silence without a look at what is in them;
// silence stays.
func TestMethod(t *testing.T) {
	gaps := []audio.Gap{{Start: 1000, End: 1040}, {Start: 1070, End: 1100}, {Start: 2380, End: 2400}}
	s := &gapfill.Signal{Rate: rate, Y: clock{1, 4}.voice(2400), Gaps: gaps}
	blind := &gapfill.Signal{Rate: rate, Y: audio.FillSilence(s.Y, s.Gaps), Gaps: s.Gaps}
	set := Start()
	set.Most, set.Bounds = 150, true
	fill := Method(warp.Mixture(), set)
	f, err := fill(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	other, err := fill(t.Context(), blind)
	if err != nil || !slices.Equal(f.Mean, other.Mean) || !slices.Equal(f.SD, other.SD) {
		t.Errorf("the fill looks into the gaps: %v", err)
	}
	rmse, silence := s.RMSE(f)
	coverage, _, _ := s.Intervals(f)
	if !(rmse < 0.4*silence) || coverage < 0.8 || f.M < 100 || f.Rows < 100 || f.V < 2 || math.IsNaN(f.Bound) {
		t.Errorf("the fill leaves %v of silence's error, coverage %v: %+v", rmse/silence, coverage, []any{f.Rows, f.V, f.M, f.Bound})
	}
	quiet := &gapfill.Signal{Rate: rate, Y: make([]float64, 2400), Gaps: s.Gaps}
	if f, err := fill(t.Context(), quiet); err != nil || floats.Norm(f.Mean, 1) != 0 || floats.Norm(f.SD, 1) != 0 {
		t.Errorf("silence becomes something else: %v", err)
	}
	freed := Freed()
	if freed.Free == 0 || freed.Iterations == 0 || freed.Hide != Start().Hide {
		t.Errorf("freed: %+v", freed)
	}
}
