package variational_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

// A truth is a model's parameters as 192-bit numbers, and its data: the bounds
// written from the paper's equations, with central differences for gradients.
type truth struct {
	p     *variational.Params
	data  *backend.Data
	value map[string][]real // by tensor

	// What one entry leaves as it was is not computed again for it.
	features []moment               // [N,M]
	logs     map[[2]*big.Float]real // of a number, or of a difference; reals never change
}

// moment is E[φ] and E[φ²] of one feature at one row.
type moment struct {
	mean, second real
	known        bool
}

func newTruth(p *variational.Params, data *backend.Data) *truth {
	t := &truth{p: p, data: data, value: map[string][]real{}, features: make([]moment, data.N*p.M()), logs: map[[2]*big.Float]real{}}
	for _, tensor := range p.Tensors() {
		for _, v := range *tensor.Data {
			t.value[tensor.Name] = append(t.value[tensor.Name], exactly(v))
		}
	}
	return t
}

// gate is the window's gate over row n for feature k; x is no parameter.
func (t *truth) gate(n, k int) real {
	w := &t.p.Windows
	if len(w.Center) < 2 {
		return exactly(1)
	}
	v := t.p.ComponentWindow[k/t.p.K]
	d := t.data.X[n*t.p.Q+w.Dim] - w.Center[v]
	switch {
	case v == 0 && d < 0 || v == len(w.Center)-1 && d > 0:
		return exactly(1)
	case math.Abs(d) >= w.Length/2:
		return exactly(0)
	}
	return twoPi.times(exactly(d)).over(exactly(2 * w.Length)).cos()
}

// feature is E[φ_k(x_n)] (eq. exp_Phi) and E[φ_k(x_n)²] (eq. exp_PhiT_Phi).
func (t *truth) feature(n, k int) (mean, second real) {
	p, i := t.p, k/t.p.K
	share := t.value["kernel.variance"][i].over(exactly(float64(p.K)))
	alpha, beta := t.value["phase.lower"][k], t.value["phase.upper"][k]
	angle := alpha.plus(beta).scaled(-1)
	half := beta.minus(alpha).scaled(-1)
	quad := exactly(0)
	for q := range p.Q {
		d := exactly(t.data.X[n*p.Q+q]).minus(t.value["inducing.location"][k*p.Q+q])
		bar := d.over(t.value["kernel.lengthscale"][i*p.Q+q])
		angle = angle.plus(t.value["frequency.mean"][k*p.Q+q].times(bar))
		angle = angle.plus(twoPi.times(t.value["kernel.frequency"][i*p.Q+q]).times(d))
		quad = quad.plus(t.value["frequency.variance"][k*p.Q+q].times(bar).times(bar))
	}
	g, one := t.gate(n, k), exactly(1)
	mean = g.times(share.scaled(1).root()).times(half.sinc()).times(exactly(-0.5).times(quad).exp()).times(angle.cos())
	ripple := half.scaled(1).sinc().times(exactly(-2).times(quad).exp()).times(angle.scaled(1).cos())
	return mean, g.times(g).times(share).times(one.plus(ripple))
}

// at is feature, from the store where it is known.
func (t *truth) at(n, k int) (mean, second real) {
	f := &t.features[n*t.p.M()+k]
	if !f.known {
		f.mean, f.second = t.feature(n, k)
		f.known = true
	}
	return f.mean, f.second
}

// forget drops what is known of the features that an entry has a part in.
func (t *truth) forget(name string, i int) {
	lo, hi := 0, 0
	switch name {
	case "kernel.variance":
		lo, hi = i*t.p.K, (i+1)*t.p.K
	case "kernel.lengthscale", "kernel.frequency":
		lo, hi = i/t.p.Q*t.p.K, (i/t.p.Q+1)*t.p.K
	case "inducing.location", "frequency.mean", "frequency.variance":
		lo, hi = i/t.p.Q, i/t.p.Q+1
	case "phase.lower", "phase.upper":
		lo, hi = i, i+1
	}
	for n := range t.data.N {
		clear(t.features[n*t.p.M()+lo : n*t.p.M()+hi])
	}
}

func (t *truth) log(a real) real { return t.logBetween(real{}, a) }

// logBetween is log(b − a).
func (t *truth) logBetween(a, b real) real {
	key := [2]*big.Float{a.f, b.f}
	if _, ok := t.logs[key]; !ok {
		w := b
		if a.f != nil {
			w = b.minus(a)
		}
		t.logs[key] = w.log()
	}
	return t.logs[key]
}

// moments are C [D][M] and E[ΦᵀΦ] [M][M] over the given rows.
func (t *truth) moments(rows []int) (c, g [][]real) {
	m, d := t.p.M(), t.p.D
	c, g = reals(d, m), reals(m, m)
	for _, n := range rows {
		mean := make([]real, m)
		for k := range m {
			var second real
			mean[k], second = t.at(n, k)
			g[k][k] = g[k][k].plus(second)
			for j := range k {
				g[k][j] = g[k][j].plus(mean[k].times(mean[j]))
			}
			for o := range d {
				c[o][k] = c[o][k].plus(mean[k].times(exactly(t.data.Y[n*d+o])))
			}
		}
	}
	return c, g
}

func reals(rows, cols int) [][]real {
	a := make([][]real, rows)
	for i := range a {
		a[i] = make([]real, cols)
		for j := range a[i] {
			a[i][j] = exactly(0)
		}
	}
	return a
}

func (t *truth) all() (rows []int) {
	for n := range t.data.N {
		rows = append(rows, n)
	}
	return rows
}

func (t *truth) squares(rows []int) real {
	s := exactly(0)
	for _, n := range rows {
		for _, y := range t.data.Y[n*t.data.D:][:t.data.D] {
			s = s.plus(exactly(y).times(exactly(y)))
		}
	}
	return s
}

// gaussian is Σ ½(v + m² − 1 − log v) over the entries that are not points.
func (t *truth) gaussian(mean, variance string) real {
	s, one := exactly(0), exactly(1)
	for i, v := range t.value[variance] {
		if !v.zero() {
			m := t.value[mean][i]
			s = s.plus(v.plus(m.times(m)).minus(one).minus(t.log(v)))
		}
	}
	return s.scaled(-1)
}

// kl is KL(q(ω) ‖ p(ω)) of frequencies and phases.
func (t *truth) kl() real {
	s := t.gaussian("frequency.mean", "frequency.variance")
	for k, beta := range t.value["phase.upper"] {
		if alpha := t.value["phase.lower"][k]; beta.f.Cmp(alpha.f) != 0 {
			s = s.plus(t.log(twoPi).minus(t.logBetween(alpha, beta)))
		}
	}
	return s
}

// exact is eq. lower_bound_opt_A.
func (t *truth) exact() real {
	tau := t.value["noise.precision"][0]
	c, a := t.moments(t.all())
	logTau := t.log(tau)
	logs := exactly(float64(t.p.M())).times(logTau).scaled(-1) // ½ log|τA|
	for k := range a {
		a[k][k] = a[k][k].plus(exactly(1).over(tau))
	}
	cholesky(a)
	for k := range a {
		logs = logs.plus(a[k][k].log())
	}
	fit := exactly(0).minus(t.squares(t.all()))
	for _, cd := range c {
		for _, v := range whitened(a, cd) {
			fit = fit.plus(v.times(v))
		}
	}
	nd := exactly(float64(t.data.N * t.data.D))
	noise := nd.times(logTau.minus(t.log(twoPi))).scaled(-1)
	return noise.plus(tau.times(fit).scaled(-1)).minus(exactly(float64(t.data.D)).times(logs)).minus(t.kl())
}

// factorised is eq. lower_bound_SVI over the given rows, nil for all.
func (t *truth) factorised(rows []int) real {
	if rows == nil {
		rows = t.all()
	}
	tau := t.value["noise.precision"][0]
	c, g := t.moments(rows)
	loss := t.squares(rows)
	mean, vr := t.value["coefficient.mean"], t.value["coefficient.variance"]
	for o := range t.p.D {
		for k := range g {
			mk := mean[k*t.p.D+o]
			loss = loss.minus(c[o][k].times(mk).scaled(1))
			loss = loss.plus(g[k][k].times(mk.times(mk).plus(vr[k*t.p.D+o])))
			for j := range k {
				loss = loss.plus(g[k][j].times(mk).times(mean[j*t.p.D+o]).scaled(1))
			}
		}
	}
	scale := exactly(float64(t.data.N)).over(exactly(float64(len(rows))))
	nd := exactly(float64(t.data.N * t.data.D))
	noise := nd.times(t.log(tau).minus(t.log(twoPi))).scaled(-1)
	kl := t.kl().plus(t.gaussian("coefficient.mean", "coefficient.variance"))
	return noise.minus(scale.times(tau).times(loss).scaled(-1)).minus(kl)
}

// slope is the central difference of f by one entry, its step 2⁻⁶⁰ of it.
func (t *truth) slope(name string, i int, f func() real) float64 {
	v := t.value[name][i]
	h := exactly(math.Ldexp(1, -60))
	if !v.zero() {
		h = h.scaled(v.f.MantExp(nil))
	}
	to := func(w real) real {
		t.value[name][i] = w
		t.forget(name, i)
		return f()
	}
	up, down := to(v.plus(h)), to(v.minus(h))
	t.value[name][i] = v
	t.forget(name, i)
	return up.minus(down).over(h.scaled(1)).float()
}

// TestReals holds the 192-bit functions to known values and to identities.
func TestReals(t *testing.T) {
	close := func(what string, a, b real) {
		t.Helper()
		if d := math.Abs(a.minus(b).float()); d > 1e-45*max(1, math.Abs(b.float())) {
			t.Errorf("%s: %v and %v differ by %g", what, a.float(), b.float(), d)
		}
	}
	for _, x := range []float64{1e-9, 0.3, 1, 2.5, 40, 1e7} {
		a := exactly(x)
		c, s := a.cos(), a.sinc().times(a)
		close("cos² + sin²", c.times(c).plus(s.times(s)), exactly(1))
		if math.Abs(c.float()-math.Cos(x)) > 1e-9*max(1e-6, 1e-7*x) {
			t.Errorf("cos %v = %v, want %v", x, c.float(), math.Cos(x))
		}
		close("log exp", exactly(-x/1e6).exp().log(), exactly(-x/1e6))
		close("exp log", a.log().exp(), a)
		close("exp(a)·exp(−a)", exactly(x/1e6).exp().times(exactly(-x/1e6).exp()), exactly(1))
		close("√²", a.root().times(a.root()), a)
		if math.Abs(a.log().float()-math.Log(x)) > 1e-14*math.Abs(math.Log(x)) {
			t.Errorf("log %v = %v, want %v", x, a.log().float(), math.Log(x))
		}
	}
	close("sinc(π/2)", twoPi.scaled(-2).sinc(), exactly(4).over(twoPi))
}
