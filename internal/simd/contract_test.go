package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// A scene is a tile of features that were computed without kernels, with the arguments of the
// passes.
type scene struct {
	fence
	n, q, d, count int
	cos, sin, bar  Panels
	e2             Panels
	x, gate, inv   []float64
	y, w           []float64 // [n,d], [count,8]
	params         FeatureParams
	lanes          []Lane
}

// newScene returns random features; some rows are outside their window.
func newScene(t testing.TB, seed uint64, count, n, q int) *scene {
	s := &scene{fence: fence{t: t}, n: n, q: q, d: 2, count: count}
	r := rand.New(rand.NewPCG(11, seed))
	s.cos, s.sin, s.bar, s.e2 = s.panels(r, count, n), s.panels(r, count, n), s.panels(r, count, n), s.panels(r, count, n)
	s.x, s.gate, s.inv = s.random(r, n*q, 10), s.random(r, n, 1), s.floats(n, 1)
	s.y, s.w = s.random(r, n*s.d, 1), s.random(r, count*Lanes, 1)
	s.params = s.fence.params(r, count, q, 10)
	for i := range s.gate {
		if r.IntN(4) == 0 {
			s.gate[i] = []float64{0, 6e-17, 1e-200}[r.IntN(3)]
		}
	}
	InverseSquares(s.inv, s.gate)
	for p := range count {
		for k := range n * Lanes {
			e, theta, g := r.Float64(), 7*r.Float64(), s.gate[k/Lanes]
			sn, c := math.Sincos(theta)
			s.cos.Panel(p)[k], s.sin.Panel(p)[k], s.e2.Panel(p)[k] = g*e*c, g*e*sn, e*e
		}
	}
	s.lanes = make([]Lane, count)
	for i := range s.lanes {
		l := &s.lanes[i]
		for k := range Lanes {
			l.Amp[k], l.Ripple[k], l.Square[k], l.Weight[k] = r.Float64(), r.Float64()-0.5, r.Float64()-0.5, r.Float64()
		}
	}
	return s
}

// contracted returns the sums that Contract must add for feature k, by the formulas of its comment.
func (s *scene) contracted(k int, u func(n int) float64) []float64 {
	lane := s.lanes[k/Lanes]
	a1, a2 := lane.Amp[k%Lanes], lane.Ripple[k%Lanes]
	sums := make([]float64, SumRows(s.q))
	for n := range s.n {
		c, sn, e2 := s.cos.at(n, k), s.sin.at(n, k), s.e2.at(n, k)
		theta := -a1*u(n)*sn - a2*e2*c*sn
		quad := -a1*u(n)*c - a2*e2*(c*c-sn*sn)
		sums[SumAmp] += u(n) * c
		sums[SumRipple] += e2 * (c*c - sn*sn)
		sums[SumTheta] += theta
		for q := range s.q {
			d := s.x[n*s.q+q] - s.params.Panel(k / Lanes)[(1+3*q)*Lanes+k%Lanes]
			sums[SumThetaD+3*q] += theta * d
			sums[SumQuadD+3*q] += quad * d
			sums[SumQuadD2+3*q] += quad * d * d
		}
	}
	return sums
}

// sums allocates sums with initial value 1, because kernels add to them.
func (s *scene) sums(rows int) []float64 {
	a := s.floats(s.count*rows*Lanes, 0)
	for i := range a {
		a[i] = 1
	}
	return a
}

// compare checks the sums of feature k in each panel's rows.
func (s *scene) compare(what string, sums []float64, rows, k int, want []float64) {
	s.t.Helper()
	for i, v := range want {
		got := sums[(k/Lanes*rows+i)*Lanes+k%Lanes] - 1
		near(s.t, fmt.Sprintf("%s, feature %d, sum %d", what, k, i), got, v, 100*float64(s.n)+1, sumTol)
	}
}

// scenes runs a test with every set and every size.
func scenes(t *testing.T, inputs int, f func(s *scene)) {
	for _, count := range []int{1, 2, 5} {
		for _, n := range sizes {
			for q := 1; q <= inputs; q++ {
				t.Run(fmt.Sprintf("%d panels, %d rows, %d inputs", count, n, q), func(t *testing.T) {
					eachSet(t, func(t *testing.T) {
						s := newScene(t, uint64(n), count, n, q)
						f(s)
						s.check()
						s.between(s.cos)
						s.between(s.bar)
					})
				})
			}
		}
	}
}

func TestContract(t *testing.T) {
	scenes(t, 3, func(s *scene) {
		var want [][]float64
		for k := range s.count * Lanes {
			want = append(want, s.contracted(k, func(n int) float64 { return s.bar.at(n, k) }))
		}
		sums := s.sums(SumRows(s.q))
		(&Tile{Cos: s.cos, Sin: s.sin, Params: s.params, X: s.x, Inv: s.inv}).Contract(sums, s.bar, s.floats(s.n*Lanes, 0), s.lanes)
		for k, w := range want {
			s.compare("Contract", sums, SumRows(s.q), k, w)
		}
	})
}

func TestFactorized(t *testing.T) {
	scenes(t, 1, func(s *scene) {
		res := s.floats(s.n, 1)
		for n := range res {
			res[n] = s.y[n*s.d]
		}
		sums := s.sums(FactorizedRows)
		(&Tile{Cos: s.cos, Sin: s.sin, Params: s.params, X: s.x, Inv: s.inv}).Factorized(sums, res, s.lanes)
		for k := range s.count * Lanes {
			lane := s.lanes[k/Lanes]
			a1 := lane.Amp[k%Lanes]
			contracted := s.contracted(k, func(n int) float64 {
				return (lane.Square[k%Lanes]*s.cos.at(n, k) + lane.Weight[k%Lanes]*res[n]) / a1
			})
			var along, square float64
			for n := range s.n {
				along += res[n] * s.cos.at(n, k)
				square += s.cos.at(n, k) * s.cos.at(n, k)
			}
			s.compare("Factorized", sums, FactorizedRows, k, append([]float64{along, square}, contracted[SumRipple:]...))
		}
		// If all gates are 1, they may be nil.
		ones, open := s.floats(s.n, 0), s.floats(len(sums), 0)
		for i := range ones {
			ones[i] = 1
		}
		sums = s.floats(len(sums), 0)
		(&Tile{Cos: s.cos, Sin: s.sin, Params: s.params, X: s.x, Inv: ones}).Factorized(sums, res, s.lanes)
		(&Tile{Cos: s.cos, Sin: s.sin, Params: s.params, X: s.x}).Factorized(open, res, s.lanes)
		testkit.Within(s.t, "with gates of 1 and without", sums, open, 0)
	})
}

func TestSecond(t *testing.T) {
	scenes(t, 1, func(s *scene) {
		sums := s.sums(2)
		(&Tile{Cos: s.cos, Sin: s.sin, Params: s.params, X: s.x, Inv: s.inv}).Second(sums)
		for k := range s.count * Lanes {
			var ripple, square float64
			for n := range s.n {
				c, sn := s.cos.at(n, k), s.sin.at(n, k)
				ripple += s.e2.at(n, k) * (c*c - sn*sn)
				square += c * c
			}
			s.compare("Second", sums, 2, k, []float64{ripple, square})
		}
	})
}

func TestFitMatchesReference(t *testing.T) {
	scenes(t, 1, func(s *scene) {
		acc, sum := s.floats(s.n*Lanes, 0), s.floats(s.n, 0)
		for i := range acc {
			acc[i] = 1
		}
		Fit(acc, s.cos, s.w)
		SumLanes(sum, acc)
		for n := range s.n {
			want := float64(Lanes)
			for k, w := range s.w {
				want += w * s.cos.at(n, k)
			}
			near(s.t, fmt.Sprintf("fit %d", n), sum[n], want, float64((s.count+1)*Lanes), sumTol)
		}
	})
}

func TestAlongMatchesReference(t *testing.T) {
	scenes(t, 1, func(s *scene) {
		for d := range s.d {
			sums := s.sums(1)
			Along(sums, s.cos, s.y[min(d, len(s.y)):], s.d)
			for k := range sums {
				want := 0.0
				for n := range s.n {
					want += s.y[n*s.d+d] * s.cos.at(n, k)
				}
				s.compare("Along", sums, 1, k, []float64{want})
			}
		}
	})
}

func TestAddOutput(t *testing.T) {
	scenes(t, 1, func(s *scene) {
		for d := range s.d {
			was := append([]float64(nil), s.bar.Data...)
			AddOutput(s.bar, s.y[min(d, len(s.y)):], s.d, s.w)
			for k, w := range s.w {
				for n := range s.n {
					want := was[(k/Lanes*s.bar.Stride+n)*Lanes+k%Lanes] + s.y[n*s.d+d]*w
					near(s.t, fmt.Sprintf("bar[%d,%d]", n, k), s.bar.at(n, k), want, 1, sumTol)
				}
			}
		}
	})
}
