// Package backendtest is one conformance suite for every backend.Backend,
// judged by the slow loops of package oracle. A backend's test file holds one
// line of it:
//
//	func TestBackend(t *testing.T) { backendtest.Run(t, func(testing.TB) backend.Backend { return cpu.New() }) }
//
// A case is a problem: data, windows, features, coefficients, adjoints. A
// check is a property that every problem must have. All inputs and outputs
// stand between fences of NaN, so that a stray read spoils the answer and a
// stray write shows; outputs begin as NaN, so that a number not written shows.
package backendtest

import (
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// A check returns nil where the backend does as its contract says.
type check struct {
	name string
	run  func(*problem, backend.Backend) error
}

// checks are what every case goes through.
var checks = []check{
	{"Moments", checkMoments},
	{"MomentsAdd", checkMomentsAdd},
	{"Pullback", checkPullback},
	{"PullbackAdjoint", checkAdjoint},
	{"Factorised", checkFactorized},
	{"FactorisedAdd", checkFactorizedAdd},
	{"FactorisedGradient", checkFactorizedGradient},
	{"SumsWithoutOutputs", checkSumsWithoutOutputs},
	{"Predict", checkPredict},
	{"PredictWithoutOutputs", checkPredictWithoutOutputs},
	{"Repeat", checkRepeat},
	{"NotFinite", checkNotFinite},
	{"Errors", checkErrors},
}

// Run puts the backends that open gives through every case and check; it
// closes each. The log says what ran.
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
