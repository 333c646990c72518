package variational_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestTensors compares the table with the names, shapes and domains of the model file and with the optimizer's coordinates.
func TestTensors(t *testing.T) {
	const l, m, q, d = 2, 6, 4, 5
	p := variational.NewParams(l, m/l, q, d)
	var names []string
	for i, want := range []struct {
		name       string
		shape      []int
		group      variational.Group
		domain     variational.Domain
		coordinate variational.Coordinate
		data       *[]float64
	}{
		{"kernel.variance", []int{l}, variational.Covariance, variational.Positive, variational.Log, &p.Variance},
		{"kernel.lengthscale", []int{l, q}, variational.Covariance, variational.Positive, variational.Log, &p.Lengthscale},
		{"kernel.frequency", []int{l, q}, variational.Covariance, variational.Real, variational.Shift, &p.Frequency},
		{"inducing.location", []int{m, q}, variational.FeatureDist, variational.Real, variational.Shift, &p.Location},
		{"frequency.mean", []int{m, q}, variational.FeatureDist, variational.Real, variational.Shift, &p.FreqMean},
		{"frequency.variance", []int{m, q}, variational.FeatureDist, variational.NonNegative, variational.Log, &p.FreqVar},
		{"phase.lower", []int{m}, variational.FeatureDist, variational.Real, variational.Phase, &p.PhaseLower},
		{"phase.upper", []int{m}, variational.FeatureDist, variational.Real, variational.PhaseEnd, &p.PhaseUpper},
		{"noise.precision", []int{1}, variational.Noise, variational.Positive, variational.Level, &p.NoisePrecision},
		{"coefficient.mean", []int{m, d}, variational.Coefficients, variational.Real, variational.Shift, &p.CoefMean},
		{"coefficient.variance", []int{m, d}, variational.Coefficients, variational.Positive, variational.Log, &p.CoefVar},
	} {
		got := p.Tensors()[i]
		if got.Name != want.name || !slices.Equal(got.Shape, want.shape) || got.Group != want.group || got.Domain != want.domain ||
			got.Coordinate != want.coordinate || got.Data != want.data || len(*got.Data) != got.Size() {
			t.Errorf("tensor %d is %+v of %d numbers, want %+v", i, got, len(*got.Data), want)
		}
		names = append(names, want.name)
	}
	if got := variational.Names(nil); !slices.Equal(got, names) || len(p.Tensors()) != len(names) {
		t.Errorf("names %v, want %v", got, names)
	}
	if got := variational.Names(func(t variational.Tensor) bool { return t.Tieable }); !slices.Equal(got, names[:3]) {
		t.Errorf("%v may be tied, want %v", got, names[:3])
	}
}

// TestDomains checks that Check returns an error that names the entry for values outside of a
// tensor's domain, and accepts values inside.
func TestDomains(t *testing.T) {
	p := variational.NewParams(2, 2, 2, 2)
	for _, tensor := range p.Tensors() {
		for i := range *tensor.Data {
			(*tensor.Data)[i] = 0.5
			if tensor.Name == "phase.lower" {
				(*tensor.Data)[i] = -2
			}
		}
	}
	testkit.OK(t, p.Check())
	for _, tensor := range p.Tensors() {
		last := tensor.Size() - 1
		entry := &(*tensor.Data)[last]
		was := *entry
		for v, in := range map[float64]bool{
			math.NaN(): false, math.Inf(1): false, math.Inf(-1): false,
			-1: tensor.Domain == variational.Real, 0: tensor.Domain != variational.Positive, 1e-300: true, 0.25: true,
		} {
			*entry = v
			err := p.Check()
			if in != (err == nil) || err != nil && (!errors.Is(err, variational.ErrParams) || !strings.Contains(err.Error(), fmt.Sprintf("%s[%d]", tensor.Name, last))) {
				t.Errorf("%s[%d] = %v: error %v, want one: %v", tensor.Name, last, v, err, !in)
			}
		}
		*entry = was
	}
}

// TestShiftsHaveTheirUnits compares the unit of every Shift with the formulas of Tensor.Unit.
func TestShiftsHaveTheirUnits(t *testing.T) {
	p, _ := kind{Name: "units", N: 1, L: 2, K: 3, Q: 2, D: 2}.Make()
	f := p.Features()
	const reach = 1.5
	for _, tensor := range p.Tensors() {
		if tensor.Coordinate != variational.Shift {
			continue
		}
		var want []float64
		for i := range *tensor.Data {
			l := p.Lengthscale[(i/p.Q/p.K*p.Q+i%p.Q)%len(p.Lengthscale)] // of a [M,Q] tensor
			switch tensor.Name {
			case "kernel.frequency":
				want = append(want, 1/(2*math.Pi*reach))
			case "inducing.location":
				want = append(want, 1/math.Sqrt(f.Freq[i]*f.Freq[i]+f.Decay[i]+1/(reach*reach)))
			case "frequency.mean":
				want = append(want, min(1, l/reach))
			case "coefficient.mean":
				want = append(want, math.Sqrt(p.CoefVar[i]))
			default:
				t.Errorf("%s is a Shift without a unit in this test", tensor.Name)
				continue
			}
		}
		var got []float64
		for i := range want {
			got = append(got, tensor.Unit(i, reach))
		}
		modeltest.Near(t, tensor.Name, got, want, 1e-12)
		if slices.Min(got) <= 0 {
			t.Errorf("%s: units %v", tensor.Name, got)
		}
	}
}

// TestConstants checks that an optimizer has a coordinate for every entry that is not Constant,
// and two for a phase.
func TestConstants(t *testing.T) {
	mixed, _ := kind{Name: "mixed", N: 1, L: 2, K: 3, Q: 2, D: 1}.Make()
	mixed.FreqVar[1], mixed.FreqVar[8], mixed.PhaseUpper[4] = 0, 0, mixed.PhaseLower[4]
	all := []*variational.Params{mixed}
	for _, c := range modeltest.Kinds {
		p, _ := c.Make()
		all = append(all, p)
	}
	constants := 0
	for _, p := range all {
		for _, tensor := range p.Tensors() {
			want := 0
			for i := range *tensor.Data {
				if !tensor.Constant(i) {
					want++
				} else {
					constants++
				}
			}
			switch tensor.Coordinate {
			case variational.Phase:
				want *= 2
			case variational.PhaseEnd:
				want = 0
			}
			if got := optimize.NewCoordinates(p, []string{tensor.Name}, optimize.Ties{}, 1).N(); got != want {
				t.Errorf("%s: %d coordinates, want %d", tensor.Name, got, want)
			}
		}
	}
	if constants == 0 {
		t.Error("no entry is constant: the test is not sensitive")
	}
}
