package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/kernels"
)

// A whole contains the digits of many numbers in the format of the GPU: number (own, sum).
type whole struct {
	digits    int
	store     []byte
	own, sums int
}

func (w whole) digit(own, sum, p int) int64 {
	at := ((sum/kernels.DigitStage*w.digits+p)*w.own+own)*kernels.DigitStage + sum%kernels.DigitStage
	return int64(int8(w.store[at]))
}

// number returns the integer X.
func (w whole) number(own, sum int) (x int64) {
	for p := w.digits - 1; p >= 0; p-- {
		x = x<<8 + w.digit(own, sum, p)
	}
	return x
}

// product returns the sum of the retained digit pairs of numbers i of a and j of b, in units of the
// products of X.
func product(a, b whole, i, j int) *big.Int {
	s := a.digits
	levels := make([]int64, 2*s-1)
	for n := range a.sums {
		for p := range s {
			for q := s - 1 - p; q < s; q++ {
				levels[p+q] += a.digit(i, n, p) * b.digit(j, n, q)
			}
		}
	}
	sum := new(big.Int)
	for l, v := range levels {
		sum.Add(sum, new(big.Int).Lsh(big.NewInt(v), uint(8*l)))
	}
	return sum
}

// value returns the float64 nearest to a sum of products of X.
func value(sum *big.Int, digits int) float64 {
	f, _ := new(big.Float).SetInt(sum).Float64()
	return math.Ldexp(f, 2*(2-8*digits))
}

// contents returns the contents of an array.
func (r *rows) contents(t *testing.T, a array) []byte {
	t.Helper()
	b := make([]byte, r.size[a])
	testkit.OK(t, r.mem[a].Download(r.stream, b, 0))
	return b
}

// callOpen calls a method on rows that remain open.
func (p *problem) callOpen(t *testing.T, b *Backend, m method) (*rows, []answer) {
	t.Helper()
	r := testkit.Must(b.Open(p.data))(t)
	t.Cleanup(func() { r.Close() })
	all := testkit.Must(m.call(r))(t)
	return r.(*rows), all
}

// position returns the position of entry (i, j), i > j, of a run's matrix in a Gram array.
func (r run) position(i, j int64) int64 {
	switch {
	case i < r.Split:
		return r.Diag0 + i*r.Split + j
	case j < r.Split:
		return r.Below + (i-r.Split)*r.Split + j
	}
	return r.Diag1 + (i-r.Split)*(r.M-r.Split) + j - r.Split
}

// among returns the run's chunks.
func (r run) among(chunks []kernels.Chunk) (own []kernels.Chunk) {
	for _, c := range chunks {
		if r.Lo <= c.Lo && c.Hi <= r.Hi {
			own = append(own, c)
		}
	}
	return own
}

// exactShapes fit into a store of one slab.
var exactShapes = []shape{
	{name: "63 features", n: 65, m: 63, q: 1, d: 1},
	{name: "65 features, even", n: 130, m: 65, q: 1, d: 1, even: true},
	{name: "129 features, two inputs", n: 33, m: 129, q: 2, d: 1},
	{name: "several chunks", n: 1100, m: 3, q: 1, d: 1, even: true},
	{name: "windows", n: 150, m: 60, q: 1, d: 1, windows: 4},
}

// eachExact runs a test for each exact shape and each number of digits.
func eachExact(t *testing.T, method int, test func(t *testing.T, p *problem, r *rows, digits int)) {
	onEach(t, func(t *testing.T, ordinal int) {
		for _, digits := range []int{LeastDigits, MostDigits} {
			for _, s := range exactShapes {
				t.Run(fmt.Sprintf("%d digits, %s", digits, s.name), func(t *testing.T) {
					s.digits = digits
					b, p := open(t, s.options(ordinal)), newProblem(s)
					clear(p.bar.C) // with many outputs or inputs, C̄y is added to the adjoints in place
					r, _ := p.callOpen(t, b, p.methods()[method])
					test(t, p, r, digits)
				})
			}
		}
	})
}

// TestDigitsGramExact checks that G equals, bit for bit, the product of the stored digits in big
// integers, and that the digits are the features rounded once.
func TestDigitsGramExact(t *testing.T) {
	eachExact(t, 0, func(t *testing.T, p *problem, r *rows, digits int) {
		plan := r.plans[opMoments]
		store, runs, gram := r.contents(t, arrayStore), runsOver(plan.runs, plan.offset), r.host[arrayGram]
		want := make([]float64, len(gram))
		for _, run := range runs {
			var all []whole
			for _, c := range run.among(plan.passes[0].chunks) {
				all = append(all, whole{digits, store[c.Store*int64(digits):], int(c.M), int(c.Rows())})
				p.areFeatures(t, c, digits, func(n, k int) int64 { return all[len(all)-1].number(k, n) })
			}
			for a := range run.M {
				for b := range a {
					sum := new(big.Int)
					for _, w := range all {
						sum.Add(sum, product(w, w, int(a), int(b)))
					}
					want[run.position(a, b)] += p.features.Amp[run.F0+a] * p.features.Amp[run.F0+b] * value(sum, digits)
				}
			}
		}
		for at, w := range want {
			if gram[at] != w {
				t.Fatalf("G[%d] is %v, want %v", at, gram[at], w)
			}
		}
	})
}

// areFeatures checks that number(row of the chunk, feature) is φ̄/A1 in units of 2^(2−8·digits),
// within half a unit and the rounding of float64. It ignores gates, so problems with windows are
// skipped.
func (p *problem) areFeatures(t *testing.T, c kernels.Chunk, digits int, number func(n, k int) int64) {
	t.Helper()
	if p.windows > 0 {
		return
	}
	f, order := p.features, p.data.Prepare().Order
	sigma := math.Ldexp(1, 8*digits-2)
	for n := range int(c.Rows()) {
		for k := range int(c.M) {
			angle, quad := f.Phase[k], 0.0
			for i := range p.q {
				d := p.data.X[order[int(c.Lo)+n]*p.q+i] - f.Center[k*p.q+i]
				angle, quad = angle+f.Freq[k*p.q+i]*d, quad+f.Decay[k*p.q+i]*d*d
			}
			want := math.Exp(-quad/2) * math.Cos(angle)
			if have := float64(number(n, k)) / sigma; !(math.Abs(have-want) <= 0.5/sigma+2e-12) {
				t.Fatalf("row %d, feature %d: stored %v, want %v", n, k, have, want)
			}
		}
	}
}

// TestDigitsProductExact checks that the adjoints equal, bit for bit, the product of the stored
// digits of the features and of Ḡ in big integers, and that the digits of Ḡ are its entries,
// rounded once with a power of two for each row.
func TestDigitsProductExact(t *testing.T) {
	eachExact(t, 1, func(t *testing.T, p *problem, r *rows, digits int) {
		plan := r.plans[opPullback]
		pass, runs := plan.passes[0], runsOver(plan.runs, plan.offset)
		store, adjoint := r.contents(t, arrayStore), r.contents(t, arrayDigits)
		bars := store[pass.store/pass.number*int64(digits):]
		at := 0
		for _, run := range runs {
			m := int(run.M)
			own := adjoint[at:][:kernels.DigitAdjoint(m, digits)]
			at += len(own)
			g := whole{digits, own[(m+3)/4*32:], m, m}
			scales := p.areAdjoint(t, run, g, own)
			for _, c := range run.among(pass.chunks) {
				f := whole{digits, store[c.Store*int64(digits):], int(c.Rows()), m}
				p.areFeatures(t, c, digits, f.number)
				for n := range int(c.Rows()) {
					for k := range m {
						want := scales[k] * value(product(g, f, k, n), digits)
						if have := float(bars, int(c.Store)+n*m+k); have != want {
							t.Fatalf("row %d, feature %d: the adjoint is %v, want %v", n, k, have, want)
						}
					}
				}
			}
		}
	})
}

func float(b []byte, i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])) }

// areAdjoint checks the digits of a run's Ḡ and returns 2·2^e for each row.
func (p *problem) areAdjoint(t *testing.T, run run, g whole, scales []byte) (powers []float64) {
	t.Helper()
	var gram []float64
	for v, b := range p.bar.Gram.Diag {
		gram = append(gram, b...)
		if v < len(p.bar.Gram.Below) {
			gram = append(gram, p.bar.Gram.Below[v]...)
		}
	}
	for k := range int(run.M) {
		row, largest := make([]float64, run.M), 0.0
		for j := range row {
			if j != k {
				row[j] = gram[run.position(int64(max(j, k)), int64(min(j, k)))] * p.features.Amp[int(run.F0)+j]
				largest = max(largest, math.Abs(row[j]))
			}
		}
		_, e := math.Frexp(largest)
		for j, v := range row {
			if want := math.RoundToEven(math.Ldexp(v, 8*g.digits-2-e)); float64(g.number(k, j)) != want {
				t.Fatalf("Ḡ[%d][%d]: %d is stored, want %v", k, j, g.number(k, j), want)
			}
		}
		powers = append(powers, math.Ldexp(2, e))
		if have, want := float(scales, k), math.Ldexp(2, e-8*g.digits-4); have != want {
			t.Fatalf("row %d of Ḡ has the unit %v, want %v", k, have, want)
		}
	}
	return powers
}
