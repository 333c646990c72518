// Package backendtest is a conformance suite for implementations of backend.Backend, also in
// other modules. Run compares a backend with direct, slow implementations of the equations. A
// backend's tests need one function:
//
//	func TestBackend(t *testing.T) {
//		backendtest.Run(t, func(testing.TB) backend.Backend { return mine.New() })
//	}
//
// A case is a problem: data, windows, features, coefficients and adjoints. A check is a property
// that every problem must have. All arrays are surrounded by NaN, which detects reads and writes
// out of range. Outputs are initialized with NaN, which detects missing values.
package backendtest

import (
	"fmt"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// A check returns an error if the backend breaks its contract.
type check struct {
	name string
	run  func(*problem, backend.Backend) error
}

// checks are run for every case.
var checks = []check{
	{"Moments", checkMoments},
	{"MomentsAdd", checkMomentsAdd},
	{"Pullback", checkPullback},
	{"PullbackAdjoint", checkAdjoint},
	{"Factorized", checkFactorized},
	{"FactorizedAdd", checkFactorizedAdd},
	{"FactorizedGradient", checkFactorizedGradient},
	{"SumsWithoutOutputs", checkSumsWithoutOutputs},
	{"Predict", checkPredict},
	{"PredictWithoutOutputs", checkPredictWithoutOutputs},
	{"Repeat", checkRepeat},
	{"NotFinite", checkNotFinite},
	{"Errors", checkErrors},
}

// Run runs every check on every case, in subtests, and reports violations of the contract as test
// errors. It calls open for each check and closes the backend that open returns. The build tag slow
// adds large cases.
func Run(t *testing.T, open func(testing.TB) backend.Backend) {
	for _, c := range cases {
		if c.long && !slow.Tests {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for _, check := range checks {
				t.Run(check.name, func(t *testing.T) {
					b := open(t)
					if b.Name() == "" {
						t.Error("the backend has no name")
					}
					t.Logf("backend %s", b.Name())
					if err := check.run(newProblem(c), b); err != nil {
						t.Error(err)
					}
					if err := b.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				})
			}
		})
	}
}

// Fuzz checks the values on random problems of up to 300 rows, 100 features, four inputs, three
// outputs and nine windows.
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
			{"Moments", checkMoments}, {"Pullback", checkPullback}, {"Factorized", checkFactorized}, {"Predict", checkPredict},
		} {
			if err := c.run(newProblem(s), b); err != nil {
				t.Errorf("%+v: %s: %v", s, c.name, err)
			}
		}
	})
}
