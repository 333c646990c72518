package series

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
)

// everything contains all parts except level shifts and products, with two seasons.
var everything = []Part{Constant{}, Slope{}, SmoothTrend{}, RandomWalk{}, DampedTrend{}, ShortMemory{Quality: defaultQuality}, Season{Period: 1}, Season{Period: 0.3, Harmonics: 2}}

// objectiveOf returns the objective of all parts, by moments.
func objectiveOf(t *testing.T, s Series) *objective {
	t.Helper()
	f := frameOf(t, s, false)
	l := newLayout(f, f.ordered(everything), 1.5*f.Range, nil, 0, func(float64) float64 { return 0.5 })
	o := newObjective(t.Context(), l, f.tracks())
	o.simulated = 5000 // a trend has few degrees of freedom, so few draws would be noise
	o.small = make([]*dense, len(o.tracks))
	return o
}

// directly returns the same objective by the covariance of the observations.
func (o *objective) directly(t *testing.T) *objective {
	d := newObjective(t.Context(), o.layout, o.tracks)
	for _, track := range o.tracks {
		d.small = append(d.small, newDense(o.layout, track))
	}
	return d
}

// direct returns the sum of the log densities of the outputs under N(0, K), K = ΦD²Φᵀ + λK_o, and the distribution of the first output.
func (o *objective) direct(t *testing.T, v []float64) (total float64, first *gaussian) {
	t.Helper()
	lambda, _ := o.layout.variance(v)
	at, row := o.layout.stateSpaceAt(v), o.layout.weighted(v)
	for out, y := range o.layout.frame.y {
		var phi [][]float64
		var seen, noise, u []float64
		for n, value := range y {
			if !math.IsNaN(value) {
				e := o.layout.frame.error(out, n)
				var z []float64
				for _, column := range o.layout.frame.z {
					z = append(z, column[n])
				}
				u = append(u, o.layout.frame.u[n])
				phi, seen, noise = append(phi, row(u[len(u)-1], z...)), append(seen, value), append(noise, lambda*e*e)
			}
		}
		g := newGaussian(t, seen, func(i, j int) float64 {
			k := dot(phi[i], phi[j]) + lambda*at.covariance(u[i], u[j])
			if i == j {
				k += noise[i]
			}
			return k
		})
		if total += g.density; first == nil {
			first = g
		}
	}
	return total, first
}

// TestObjective compares the value with the dense Gaussian log density, the gradient with finite differences, and the information
// with ½ tr(K⁻¹K_iK⁻¹K_j), with a larger tolerance for the pairs that averageInformation estimates.
func TestObjective(t *testing.T) {
	two := made(90, false)
	two.Y = append(two.Y, slices.Clone(two.Y[0]))
	for n := range two.Y[1] {
		two.Y[1][n] = math.Sin(float64(n))
	}
	holes := Series{X: two.X, Y: [][]float64{slices.Clone(two.Y[0]), two.Y[1]}}
	for n := 20; n < 40; n++ {
		holes.Y[0][n] = math.NaN()
	}
	weighted := made(70, true)
	weighted.Err = [][]float64{make([]float64, len(weighted.X))}
	for n := range weighted.X {
		weighted.Err[0][n] = 0.1 + 0.5*math.Abs(math.Sin(float64(n)))
	}
	both := weighted.rows(0, 40) // the first two outputs form a group because their standardized errors are equal
	both.Y, both.Err = append(both.Y, make([]float64, 40), two.Y[1][:40]), append(both.Err, both.Err[0], slices.Clone(both.Err[0]))
	for n, y := range both.Y[0] {
		both.Y[1][n], both.Err[2][n] = -y, 0.2
	}
	regressors := made(80, true)
	for j, group := range []string{"", "shared", "shared"} {
		r := Regressor{Name: fmt.Sprint("r", j), Group: group, Values: make([]float64, len(regressors.X))}
		for n := range r.Values {
			r.Values[n] = 3 + math.Sin(float64((n+j)*n))
		}
		regressors.Regressors = append(regressors.Regressors, r)
	}
	for name, s := range map[string]Series{"even": made(80, false), "uneven": made(80, true), "outputs": two, "holes": holes, "errors": weighted,
		"outputs with errors": both, "regressors": regressors} {
		o := objectiveOf(t, s)
		o.simulated = 40 * simulatedRows // because the sd of the estimates of 1000 rows is about the tolerance
		v := o.layout.medians()
		for i := range v {
			v[i] += 0.3 * math.Sin(float64(i))
		}
		averaged := []int{o.layout.noise, o.layout.index.sd, o.layout.index.length, o.layout.index.quality, o.layout.index.walk,
			o.layout.index.rise, o.layout.index.back}
		checkObjective(t, name+" by moments", o, v, averaged)
		checkObjective(t, name+" directly", o.directly(t), v, nil)
	}
	for _, n := range []int{7, 8, 9} { // around one panel
		o := objectiveOf(t, made(n, true)).directly(t)
		checkObjective(t, fmt.Sprint(n), o, o.layout.medians(), nil)
	}
}

// checkObjective compares an objective with the dense Gaussian. The information between averaged coordinates is an estimate.
func checkObjective(t *testing.T, name string, o *objective, v []float64, averaged []int) {
	t.Helper()
	var e bayes.Evaluation
	testkit.OK(t, o.evaluate(&e, v))
	want, exact := o.direct(t, v)
	if math.Abs(e.Value-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: value %v, want %v", name, e.Value, want)
	}
	slopes := make([]*mat.Dense, len(v)) // K⁻¹K_i, of the first output
	for i := range v {
		at := func(step float64) (float64, *mat.SymDense) {
			w := slices.Clone(v)
			w[i] += step
			value, g := o.direct(t, w)
			return value, g.k
		}
		const step = 2e-3 // fourth-order differences, because the value is rounded to 1e-9
		up, kUp := at(step)
		down, kDown := at(-step)
		up2, kUp2 := at(2 * step)
		down2, kDown2 := at(-2 * step)
		if slope := (8*(up-down) - (up2 - down2)) / (12 * step); math.Abs(e.Gradient[i]-slope) > 1e-5*(1+math.Abs(slope)) {
			t.Errorf("%s: gradient of %s is %v, want %v", name, o.layout.names[i], e.Gradient[i], slope)
		}
		var by, by2 mat.Dense
		by.Sub(kUp, kDown)
		by2.Sub(kUp2, kDown2)
		by.Scale(8, &by)
		by.Sub(&by, &by2)
		by.Scale(1/(12*step), &by)
		slopes[i] = &mat.Dense{}
		testkit.OK(t, exact.factor.SolveTo(slopes[i], &by))
	}
	if len(o.layout.frame.y) > 1 {
		return
	}
	expected := func(i, j int) float64 {
		var product mat.Dense
		product.Mul(slopes[i], slopes[j])
		return 0.5 * mat.Trace(&product)
	}
	for i := range v {
		for j := range v {
			want, got, scale := expected(i, j), e.Information[i*len(v)+j], 1e-4*(0.01+math.Abs(expected(i, j)))
			if slices.Contains(averaged, i) && slices.Contains(averaged, j) {
				scale = 0.15 * math.Sqrt(expected(i, i)*expected(j, j))
			}
			if i == j && o.layout.deviations[i] {
				want += max(0, -2*e.Gradient[i]-want)
			}
			testkit.Near(t, got, want, scale, name, ": information of ", o.layout.names[i], " and ", o.layout.names[j])
		}
	}
}

// TestDirectIsResolved checks that coordinates at which the covariance of few observations is resolved are also resolved by moments, which
// predictions use, and that both have the same value.
func TestDirectIsResolved(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	both, neither := 0, 0
	for _, n := range []int{9, 40, 80} {
		o := objectiveOf(t, made(n, false))
		d := o.directly(t)
		o.fixed, d.fixed = true, true
		for range 100 {
			v := o.layout.medians()
			for i := range v {
				v[i] = min(v[i]+6*random.NormFloat64(), o.layout.most[i])
			}
			var a, b bayes.Evaluation
			switch err := d.evaluate(&a, v); {
			case errors.Is(err, errUnresolved):
				neither++
			case o.evaluate(&b, v) != nil:
				t.Errorf("%d observations: resolved only directly at %v", n, v)
			default:
				both++
				testkit.Near(t, a.Value, b.Value, resolved+1e-9*math.Abs(b.Value), n, " observations at ", v)
			}
		}
	}
	if both < 100 || neither < 10 {
		t.Errorf("resolved %d times, unresolved %d times", both, neither)
	}
}

// TestUnresolved checks that values are correct up to an amplitude at which rounding dominates, and that larger amplitudes return
// errUnresolved.
func TestUnresolved(t *testing.T) {
	o := objectiveOf(t, made(80, false))
	v := o.layout.medians()
	grown := slices.Index(o.layout.names, "season 1.amplitude[1]")
	o.layout.most[grown] = math.Inf(1)
	for v[grown] = 0; v[grown] < 60; v[grown] += 2 {
		var e bayes.Evaluation
		if err := o.evaluate(&e, v); err != nil {
			if !errors.Is(err, errUnresolved) || v[grown] < 8 {
				t.Errorf("amplitude e^%v: %v", v[grown], err)
			}
			return
		}
		if v[grown] > 10 {
			continue // rounding also dominates the dense covariance
		}
		if want, _ := o.direct(t, v); math.Abs(e.Value-want) > resolved {
			t.Errorf("amplitude e^%v: value %v, want %v", v[grown], e.Value, want)
		}
	}
	t.Error("no amplitude is rejected as too large")
}

// TestUnresolvedInitialization checks that a trial finds its mode even if its initialization exceeds the numerical precision.
func TestUnresolvedInitialization(t *testing.T) {
	s := made(100, false)
	search := searchOf(t, s, Options{Known: true, Parts: []Part{Constant{}, Slope{}, SmoothTrend{}, RandomWalk{}, ShortMemory{}}})
	want := testkit.Must(search.run())(t)
	far := *want
	far.mode = slices.Clone(want.mode)
	far.mode[slices.Index(want.o.layout.names, "noise.sd")] = -30
	far.mode[slices.Index(want.o.layout.names, "smooth_trend.sd")] = 40
	if err := want.o.evaluate(&bayes.Evaluation{}, far.mode); !errors.Is(err, errUnresolved) {
		t.Fatalf("at its mode: %v, want %v", err, errUnresolved)
	}
	got, err := search.trial(want.parts, &far)
	if err != nil || math.Abs(got.fit()-want.fit()) > 0.1 {
		t.Errorf("initialized there: %v, log posterior %v, want %v", err, got.fit(), want.fit())
	}
}

// TestSeasonAmplitudeBounded checks that the amplitude of a season is at most maxAmplitude standard deviations of the data, unless
// its prior allows more.
func TestSeasonAmplitudeBounded(t *testing.T) {
	f := frameOf(t, made(100, false), false)
	for _, c := range []struct{ median, most float64 }{{0, maxAmplitude}, {50, 50 / f.Scale[0] * math.Exp(3)}} {
		prior := Prior{}
		if c.median > 0 {
			prior = Prior{Median: c.median, SD: 1}
		}
		l := newLayout(f, f.ordered([]Part{Constant{}, Season{Period: 1, Harmonics: 1, Amplitude: prior}}), 1.5*f.Range, nil, 0, func(float64) float64 { return 0.5 })
		i := slices.Index(l.names, "season 1.amplitude[1]")
		testkit.Near(t, l.most[i], math.Log(c.most), 1e-12, "prior ", prior)
		v := make([]float64, len(l.priors))
		v[i] = l.most[i] + 1e-9
		testkit.Fails(t, newObjective(t.Context(), l, f.tracks()).evaluate(&bayes.Evaluation{}, v), errUnresolved, "", "prior ", prior)
	}
}

// TestDerivativesAfterFixed checks that an evaluation without the state-space derivatives does not change a later one with them.
func TestDerivativesAfterFixed(t *testing.T) {
	s := made(60, false)
	want, o := objectiveOf(t, s), objectiveOf(t, s)
	v := o.layout.medians()
	var a, b bayes.Evaluation
	testkit.OK(t, want.evaluate(&a, v))
	o.fixed = true
	testkit.OK(t, o.evaluate(&b, v))
	o.fixed = false
	testkit.OK(t, o.evaluate(&b, v))
	testkit.Equal(t, b, a, "value, gradient and information")
}
