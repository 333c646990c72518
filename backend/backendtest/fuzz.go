package backendtest

import (
	"fmt"
	"testing"

	"github.com/vssgp/vssgp/backend"
)

// Fuzz judges the backend on problems of any shape: up to 300 rows, 100
// features, four inputs, three outputs and nine windows, near and far.
func Fuzz(f *testing.F, open func(testing.TB) backend.Backend) {
	f.Add(uint64(1), uint16(7), uint8(5), uint8(1), uint8(1), uint8(0), uint8(0))
	f.Add(uint64(2), uint16(20), uint8(9), uint8(2), uint8(2), uint8(4), uint8(1))
	f.Add(uint64(3), uint16(33), uint8(6), uint8(4), uint8(3), uint8(2), uint8(6))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, m, q, d, windows, kind uint8) {
		s := size{
			name: fmt.Sprint("seed ", seed),
			n:    1 + int(n)%300, m: 1 + int(m)%100, q: 1 + int(q)%4, d: 1 + int(d)%3, windows: int(windows) % 10,
			fixed: kind&1 != 0, sure: kind&2 != 0,
		}
		if kind&4 != 0 {
			s.offset = 3e6
		}
		b := open(t)
		defer b.Close()
		for _, c := range []check{
			{"Moments", checkMoments}, {"Pullback", checkPullback}, {"Factorised", checkFactorized}, {"Predict", checkPredict},
		} {
			if err := c.run(newProblem(s), b); err != nil {
				t.Errorf("%+v: %s: %v", s, c.name, err)
			}
		}
	})
}
