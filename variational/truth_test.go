package variational_test

import (
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/precise"
	"github.com/vssgp/vssgp/variational"
)

// A truth contains a model's parameters as 192-bit numbers and its data. Its methods implement
// the bounds directly from the paper's equations, and gradients by central differences.
type truth struct {
	p     *variational.Params
	data  *backend.Data
	value map[string][]precise.Real // by tensor

	// Caches of values that do not change from one entry to the next.
	features []moment                         // [N,M]
	logs     map[[2]precise.Real]precise.Real // logarithms of numbers and differences; reals are immutable
}

// moment contains E[φ] and E[φ²] of one feature at one row.
type moment struct {
	mean, second precise.Real
	known        bool
}

func newTruth(p *variational.Params, data *backend.Data) *truth {
	t := &truth{p: p, data: data, value: map[string][]precise.Real{}, features: make([]moment, data.N*p.M()), logs: map[[2]precise.Real]precise.Real{}}
	for _, tensor := range p.Tensors() {
		for _, v := range *tensor.Data {
			t.value[tensor.Name] = append(t.value[tensor.Name], precise.Of(v))
		}
	}
	return t
}

// gate returns the gate at row n of feature k's window.
func (t *truth) gate(n, k int) precise.Real {
	w := &t.p.Windows
	if len(w.Center) < 2 {
		return precise.Of(1)
	}
	v := t.p.ComponentWindow[k/t.p.K]
	d := t.data.X[n*t.p.Q+w.Dim] - w.Center[v]
	switch {
	case v == 0 && d < 0 || v == len(w.Center)-1 && d > 0:
		return precise.Of(1)
	case math.Abs(d) >= w.Length/2:
		return precise.Of(0)
	}
	return precise.TwoPi.Times(precise.Of(d)).Over(precise.Of(2 * w.Length)).Cos()
}

// feature returns E[φ_k(x_n)] (eq. exp_Phi) and E[φ_k(x_n)²] (eq. exp_PhiT_Phi).
func (t *truth) feature(n, k int) (mean, second precise.Real) {
	p, i := t.p, k/t.p.K
	share := t.value["kernel.variance"][i].Over(precise.Of(float64(p.K)))
	alpha, beta := t.value["phase.lower"][k], t.value["phase.upper"][k]
	angle := alpha.Plus(beta).Scaled(-1)
	half := beta.Minus(alpha).Scaled(-1)
	quad := precise.Of(0)
	for q := range p.Q {
		d := precise.Of(t.data.X[n*p.Q+q]).Minus(t.value["inducing.location"][k*p.Q+q])
		bar := d.Over(t.value["kernel.lengthscale"][i*p.Q+q])
		angle = angle.Plus(t.value["frequency.mean"][k*p.Q+q].Times(bar))
		angle = angle.Plus(precise.TwoPi.Times(t.value["kernel.frequency"][i*p.Q+q]).Times(d))
		quad = quad.Plus(t.value["frequency.variance"][k*p.Q+q].Times(bar).Times(bar))
	}
	g, one := t.gate(n, k), precise.Of(1)
	mean = g.Times(share.Scaled(1).Root()).Times(half.Sinc()).Times(precise.Of(-0.5).Times(quad).Exp()).Times(angle.Cos())
	ripple := half.Scaled(1).Sinc().Times(precise.Of(-2).Times(quad).Exp()).Times(angle.Scaled(1).Cos())
	return mean, g.Times(g).Times(share).Times(one.Plus(ripple))
}

// at returns feature, from the cache if possible.
func (t *truth) at(n, k int) (mean, second precise.Real) {
	f := &t.features[n*t.p.M()+k]
	if !f.known {
		f.mean, f.second = t.feature(n, k)
		f.known = true
	}
	return f.mean, f.second
}

// forget removes the features that depend on an entry from the cache.
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

func (t *truth) log(a precise.Real) precise.Real { return t.logBetween(precise.Real{}, a) }

// logBetween returns log(b − a).
func (t *truth) logBetween(a, b precise.Real) precise.Real {
	key := [2]precise.Real{a, b}
	if _, ok := t.logs[key]; !ok {
		w := b
		if a != (precise.Real{}) {
			w = b.Minus(a)
		}
		t.logs[key] = w.Log()
	}
	return t.logs[key]
}

// moments returns C [D][M] and E[ΦᵀΦ] [M][M] over the given rows.
func (t *truth) moments(rows []int) (c, g [][]precise.Real) {
	m, d := t.p.M(), t.p.D
	c, g = precise.Matrix(d, m), precise.Matrix(m, m)
	for _, n := range rows {
		mean := make([]precise.Real, m)
		for k := range m {
			var second precise.Real
			mean[k], second = t.at(n, k)
			g[k][k] = g[k][k].Plus(second)
			for j := range k {
				g[k][j] = g[k][j].Plus(mean[k].Times(mean[j]))
			}
			for o := range d {
				c[o][k] = c[o][k].Plus(mean[k].Times(precise.Of(t.data.Y[n*d+o])))
			}
		}
	}
	return c, g
}

func (t *truth) all() []int { return testkit.Numbers(t.data.N, func(n int) int { return n }) }

func (t *truth) squares(rows []int) precise.Real {
	s := precise.Of(0)
	for _, n := range rows {
		for _, y := range t.data.Y[n*t.data.D:][:t.data.D] {
			s = s.Plus(precise.Of(y).Times(precise.Of(y)))
		}
	}
	return s
}

// gaussian returns Σ ½(v + m² − 1 − log v) over the entries with v > 0.
func (t *truth) gaussian(mean, variance string) precise.Real {
	s, one := precise.Of(0), precise.Of(1)
	for i, v := range t.value[variance] {
		if !v.Zero() {
			m := t.value[mean][i]
			s = s.Plus(v.Plus(m.Times(m)).Minus(one).Minus(t.log(v)))
		}
	}
	return s.Scaled(-1)
}

// kl returns KL(q(ω) ‖ p(ω)) of frequencies and phases.
func (t *truth) kl() precise.Real {
	s := t.gaussian("frequency.mean", "frequency.variance")
	for k, beta := range t.value["phase.upper"] {
		if alpha := t.value["phase.lower"][k]; !beta.Minus(alpha).Zero() {
			s = s.Plus(t.log(precise.TwoPi).Minus(t.logBetween(alpha, beta)))
		}
	}
	return s
}

// exact returns eq. lower_bound_opt_A.
func (t *truth) exact() precise.Real {
	tau := t.value["noise.precision"][0]
	c, a := t.moments(t.all())
	logTau := t.log(tau)
	logs := precise.Of(float64(t.p.M())).Times(logTau).Scaled(-1) // ½ log|τA|
	for k := range a {
		a[k][k] = a[k][k].Plus(precise.Of(1).Over(tau))
	}
	precise.Cholesky(a)
	for k := range a {
		logs = logs.Plus(a[k][k].Log())
	}
	fit := precise.Of(0).Minus(t.squares(t.all()))
	for _, cd := range c {
		for _, v := range precise.Whitened(a, cd) {
			fit = fit.Plus(v.Times(v))
		}
	}
	nd := precise.Of(float64(t.data.N * t.data.D))
	noise := nd.Times(logTau.Minus(t.log(precise.TwoPi))).Scaled(-1)
	return noise.Plus(tau.Times(fit).Scaled(-1)).Minus(precise.Of(float64(t.data.D)).Times(logs)).Minus(t.kl())
}

// factorized returns eq. lower_bound_SVI over the given rows; nil means all rows.
func (t *truth) factorized(rows []int) precise.Real {
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
			loss = loss.Minus(c[o][k].Times(mk).Scaled(1))
			loss = loss.Plus(g[k][k].Times(mk.Times(mk).Plus(vr[k*t.p.D+o])))
			for j := range k {
				loss = loss.Plus(g[k][j].Times(mk).Times(mean[j*t.p.D+o]).Scaled(1))
			}
		}
	}
	scale := precise.Of(float64(t.data.N)).Over(precise.Of(float64(len(rows))))
	nd := precise.Of(float64(t.data.N * t.data.D))
	noise := nd.Times(t.log(tau).Minus(t.log(precise.TwoPi))).Scaled(-1)
	kl := t.kl().Plus(t.gaussian("coefficient.mean", "coefficient.variance"))
	return noise.Minus(scale.Times(tau).Times(loss).Scaled(-1)).Minus(kl)
}

// slope returns the central difference of f with respect to one entry with a relative step of 2⁻⁶⁰.
func (t *truth) slope(name string, i int, f func() precise.Real) float64 {
	v := t.value[name][i]
	h := precise.Of(math.Ldexp(1, -60))
	if !v.Zero() {
		h = h.Scaled(v.Exponent())
	}
	to := func(w precise.Real) precise.Real {
		t.value[name][i] = w
		t.forget(name, i)
		return f()
	}
	up, down := to(v.Plus(h)), to(v.Minus(h))
	t.value[name][i] = v
	t.forget(name, i)
	return up.Minus(down).Over(h.Scaled(1)).Float()
}
