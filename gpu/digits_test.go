package gpu

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/kernels"
)

// digitShapes are shapes at the edges of panels of digits.
var digitShapes = []shape{
	{name: "one feature", n: 1, m: 1, q: 1, d: 1},
	{name: "31 features", n: 31, m: 31, q: 1, d: 1},
	{name: "32 features", n: 32, m: 32, q: 2, d: 2},
	{name: "33 features", n: 33, m: 33, q: 1, d: 1, even: true},
}

// TestDigitsAsCPU checks that seven digits are as close to package cpu as float64 is.
func TestDigitsAsCPU(t *testing.T) {
	onEachCard(t, MostDigits, func(t *testing.T, b *Backend) {
		for _, s := range slices.Concat(digitShapes, shapes) {
			if !slow.Tests && s.n*s.m > 50_000 {
				continue
			}
			t.Run(s.name, func(t *testing.T) { newProblem(s).asCPU(t, b, float64Bound) })
		}
	})
}

// lost returns the maximum error of a term of a sum of products with s digits (digits.cuh).
func lost(s int) float64 { return float64(s) * math.Ldexp(1.01, 2-8*s) }

// TestDigitsBound checks that s digits differ from float64 on the same GPU by at most lost(s), for
// each entry of G and for those gradient sums that have one adjoint per row. With 3 digits the
// error must exceed the bound for 4. The log also reports the errors of a larger problem.
func TestDigitsBound(t *testing.T) {
	p, large := newProblem(shape{n: 3, m: 4, q: 1, d: 1}), newProblem(shape{n: 300, m: 129, q: 1, d: 1, even: true})
	onEach(t, func(t *testing.T, ordinal int) {
		whole := open(t, Options{Ordinal: ordinal})
		for _, s := range []int{LeastDigits, MostDigits} {
			b := open(t, Options{Ordinal: ordinal, Digits: s})
			var off [2]float64
			for i, of := range []func(got, want []answer) float64{p.gramError, p.gradientError} {
				m := p.methods()[i]
				off[i] = of(p.on(t, b, m), p.on(t, whole, m))
				bound := lost(s) + 1e-16 // plus the rounding of float64 sums
				if !(off[i] <= bound) {
					t.Errorf("%d digits, %s: off by %.2g a number, the bound is %.2g", s, m.name, off[i], bound)
				}
				if s == LeastDigits && off[i] <= lost(s+1) {
					t.Errorf("%s: %d digits are off by only %.2g, within the bound for %d", m.name, s, off[i], s+1)
				}
				l := large.methods()[i]
				t.Logf("%d digits, %s: off by %.1e a number, the bound is %.1e; %d × %d: %.1e of the largest",
					s, m.name, off[i], lost(s), large.n, large.m, apart(large.on(t, b, l), large.on(t, whole, l)))
			}
		}
	})
}

// apart returns the largest difference, each array relative to its largest entry.
func apart(got, want []answer) (worst float64) {
	for i := range want {
		worst = max(worst, modeltest.Worst(got[i].v, want[i].v))
	}
	return worst
}

// on runs a method, which must succeed.
func (p *problem) on(t *testing.T, b backend.Backend, m method) []answer {
	t.Helper()
	return testkit.Must(p.run(b, m))(t)
}

// gramError returns the largest error of an off-diagonal entry of G, divided by the number of its
// terms.
func (p *problem) gramError(got, want []answer) (worst float64) {
	for at, w := range want[1].v {
		i, j := at/p.m, at%p.m
		if i != j {
			worst = max(worst, math.Abs(got[1].v[at]-w)/(p.features.Amp[i]*p.features.Amp[j]*float64(p.n)))
		}
	}
	return worst
}

// gradientError returns the error of ∂/∂A1_k = Σ_n bar_nk cos, divided by the number of terms N·M.
// A bar is a sum of m terms whose unit is a power of two, at most twice the largest Ḡ_kj·A1_j, and
// it counts twice.
func (p *problem) gradientError(got, want []answer) (worst float64) {
	at := slices.IndexFunc(want, func(a answer) bool { return a.name == "Amp" })
	for k := range p.m {
		largest := 0.0
		for j := range p.m {
			if j != k {
				largest = max(largest, math.Abs(p.bar.Gram.Diag[0][k*p.m+j]*p.features.Amp[j]))
			}
		}
		worst = max(worst, math.Abs(got[at].v[k]-want[at].v[k])/(4*largest*float64(p.n*p.m)))
	}
	return worst
}

// TestDigitsLongSums checks that sums of minimal digits over more rows than int32 allows are exact,
// because they are computed slab by slab.
func TestDigitsLongSums(t *testing.T) {
	defer func(c cut) { gramCut = c }(gramCut)
	gramCut.blocks = 1 // all rows in one chunk
	x := 64.0
	for range MostDigits - 2 {
		x = 256*x - 128
	}
	onEach(t, func(t *testing.T, ordinal int) {
		b := open(t, Options{Ordinal: ordinal, Digits: MostDigits, Direct: true})
		for _, n := range []int{kernels.DigitSum, kernels.DigitSum + 1, 27_000} {
			p := newProblem(shape{n: n, m: 2, q: 1, d: 1})
			for k := range p.m {
				p.features.Freq[k], p.features.Decay[k], p.features.Phase[k] = 0, 0, math.Acos(256*x*math.Ldexp(1, 2-8*MostDigits))
			}
			r, _ := p.callOpen(t, b, p.methods()[0])
			chunks := r.plans[opMoments].passes[0].chunks
			one := whole{MostDigits, r.contents(t, arrayStore)[chunks[0].Store*MostDigits:], p.m, 1} // of the last slab
			sum := product(one, one, 1, 0)
			want := p.features.Amp[1] * p.features.Amp[0] * value(sum.Mul(sum, big.NewInt(int64(n))), MostDigits)
			if got := r.host[arrayGram][2]; got != want || len(chunks) != 1 || one.digit(0, 0, 3) != -128 {
				t.Errorf("%d rows, %d chunks, digits %d …: G is %v, want %v", n, len(chunks), one.digit(0, 0, 3), got, want)
			}
		}
	})
}

// TestSummable checks the maximum number of features over a row.
func TestSummable(t *testing.T) {
	testkit.OK(t, summable(runsOf(3, kernels.DigitSum)))
	if err := summable(runsOf(kernels.DigitSum+1, 3)); !errors.Is(err, backend.ErrShape) || !strings.Contains(err.Error(), "use float64") {
		t.Errorf("%d features: %v", kernels.DigitSum+1, err)
	}
}

// TestDigitsSameEverywhere checks that all GPUs, chunk lengths and store sizes give the same bits.
func TestDigitsSameEverywhere(t *testing.T) {
	p := newProblem(shape{n: 1500, m: 70, q: 1, d: 1, even: true, broken: 700})
	moments, pullback := p.methods()[0], p.methods()[1]
	devices := usable(t)
	o := Options{Ordinal: devices[0].Ordinal, Digits: MostDigits}
	b := open(t, o)
	wantG, wantB := p.on(t, b, moments), p.on(t, b, pullback)
	for _, d := range devices[1:] {
		other := open(t, Options{Ordinal: d.Ordinal, Digits: MostDigits})
		for i, m := range []method{moments, pullback} {
			if err := sameBits([][]answer{wantG, wantB}[i], p.on(t, other, m)); err != nil {
				t.Errorf("%s, %s: %v", d.Name, m.name, err)
			}
		}
	}
	defer func(c cut) { gramCut = c }(gramCut)
	for _, rows := range []int64{128, 1024, longest} {
		gramCut = cut{1, rows, rows, true}
		got := p.on(t, b, moments)
		for at, w := range wantG[1].v {
			if at/p.m != at%p.m && got[1].v[at] != w {
				t.Fatalf("chunks of %d rows: G[%d] is %v, was %v", rows, at, got[1].v[at], w)
			}
		}
	}
}

// TestDigitsBudget checks that the bits do not depend on the memory for the store, and that the
// plan reports the memory needed.
func TestDigitsBudget(t *testing.T) {
	o := Options{Ordinal: usable(t)[len(usable(t))-1].Ordinal, Digits: LeastDigits}
	for _, s := range []shape{
		{name: "dense", n: 1700, m: 70, q: 1, d: 5, even: true},
		{name: "windows", n: 2300, m: 200, q: 1, d: 1, windows: 5},
	} {
		p := newProblem(s)
		for _, m := range []method{p.methods()[0], p.methods()[1], p.methods()[6]} {
			t.Run(s.name+"/"+m.name, func(t *testing.T) { p.budgets(t, m, o) })
		}
	}
}

// TestDigitsExtremes tests rows of Ḡ that are zero, tiny or huge, and entries that are NaN or
// infinite. The error of each feature's gradient is relative to the size of its row of Ḡ. If the
// gradient on the CPU is NaN, the GPU's is too.
func TestDigitsExtremes(t *testing.T) {
	const row, m = 20, 40
	for _, c := range []struct {
		name  string
		entry func(j int) float64 // of the row; 7: unchanged
	}{
		{"zeros", func(int) float64 { return 0 }},
		{"tiny", func(int) float64 { return 1e-310 }},
		{"huge", func(int) float64 { return 1e300 }},
		{"one huge", func(j int) float64 { return map[bool]float64{true: -1e300, false: 7}[j == 3] }},
		{"NaN", func(j int) float64 { return map[bool]float64{true: math.NaN(), false: 7}[j == 3] }},
		{"infinite", func(j int) float64 { return map[bool]float64{true: math.Inf(-1), false: 7}[j == 0] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProblem(shape{n: 70, m: m, q: 1, d: 1})
			g := p.bar.Gram.Diag[0]
			for j := range m {
				if v := c.entry(j); j != row && v != 7 {
					g[row*m+j], g[j*m+row] = v, v
				}
			}
			want := p.on(t, cpu.New(), p.methods()[1])
			onEach(t, func(t *testing.T, ordinal int) {
				got := p.on(t, open(t, Options{Ordinal: ordinal, Digits: MostDigits}), p.methods()[1])
				for i, w := range want {
					for k, v := range w.v {
						largest := 1.0
						for j := range m {
							if v := math.Abs(g[k*m+j]); v <= math.MaxFloat64 {
								largest = max(largest, v)
							}
						}
						none := math.IsNaN(v) || math.IsInf(v, 0)
						have := got[i].v[k]
						if none != (math.IsNaN(have) || math.IsInf(have, 0)) || !none && !(math.Abs(have-v) <= 1e-13*largest*float64(p.n*m)) {
							t.Errorf("%s[%d] is %v, want %v", w.name, k, have, v)
						}
					}
				}
			})
		})
	}
}

// TestDigitsOfNaN checks that a NaN feature gives a NaN diagonal entry, sums and gradient.
func TestDigitsOfNaN(t *testing.T) {
	p := newProblem(shape{n: 70, m: 40, q: 1, d: 1})
	p.features.Phase[5] = math.NaN()
	onEachCard(t, MostDigits, func(t *testing.T, b *Backend) {
		m, g := p.on(t, b, p.methods()[0]), p.on(t, b, p.methods()[1])
		amp := slices.IndexFunc(g, func(a answer) bool { return a.name == "Amp" })
		for what, v := range map[string]float64{"C": m[0].v[5], "the diagonal": m[1].v[5*p.m+5], "the gradient": g[amp].v[5]} {
			if !math.IsNaN(v) {
				t.Errorf("%s is %v, want NaN", what, v)
			}
		}
	})
}
