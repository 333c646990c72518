package vssgp

import (
	"slices"
	"testing"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/spectral"
)

type card struct{ spectral.Backend }

func (card) Name() string { return "cuda:0" }

// TestInstructionSetTrait: the processor's instruction set is what a fit is of, whatever the device.
func TestInstructionSetTrait(t *testing.T) {
	for _, b := range []spectral.Backend{nil, cpu.New(), card{cpu.New()}} {
		made, err := traits(&Data{N: 1, Q: 1, D: 1, X: []float64{0}, Y: []float64{0}}, &Options{Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(made, trait{"instruction set (VSSGP_SIMD)", cpu.Instructions()}) {
			t.Errorf("device %v: made of %v", b, made)
		}
	}
}
