package spectral

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
)

const (
	// Times closer than nearTimes mean distances count as one.
	nearTimes = 0.1
	// nearRounds is the maximum number of times that near times are merged, since merging changes the mean distance.
	nearRounds = 20
)

// NewDomain describes rows of one input, which must not all have the same x, or of two.
func NewDomain(data *backend.Data) *Domain {
	if data.Q == 2 {
		return newPlane(data)
	}
	d := &Domain{Outputs: data.D}
	times := slices.Clone(data.X)
	slices.Sort(times)
	d.Low, d.High = times[0], times[len(times)-1]
	for range nearRounds {
		merged := apart(times, nearTimes*d.span()/float64(max(1, len(times)-1)))
		if len(merged) == len(times) {
			break
		}
		times = merged
	}
	d.Distinct, d.Spacing = len(times), median(times)
	d.scale(data.Y)
	return d
}

// scale sets Unit and Constant for outputs y.
func (d *Domain) scale(y []float64) {
	var sum, square float64
	for _, y := range y {
		sum += y
		square += y * y
	}
	n := float64(len(y))
	mean := sum / n
	d.Constant = cmp.Or(math.Sqrt(square/n), 1)
	d.Unit = d.Constant
	if v := square/n - mean*mean; v > 1e-12*square/n {
		d.Unit = math.Sqrt(v)
	}
}

// apart returns the first of the sorted times and each time that is farther than distance from the last one kept.
func apart(times []float64, distance float64) []float64 {
	kept := []float64{times[0]}
	for _, t := range times[1:] {
		if t-kept[len(kept)-1] > distance {
			kept = append(kept, t)
		}
	}
	return kept
}

// median returns the median distance of neighbors among the sorted times.
func median(times []float64) float64 {
	gaps := make([]float64, len(times)-1)
	for i := range gaps {
		gaps[i] = times[i+1] - times[i]
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}
