package audio

import "slices"

// FillLinear returns a copy of the channel x with each gap filled by linear interpolation between the adjacent samples. A gap at the start
// or end of the recording repeats its only neighbor. Samples inside the gaps are not used.
func FillLinear(x []float64, gaps []Gap) []float64 {
	y := slices.Clone(x)
	for _, g := range gaps {
		from, to := g.Start-1, g.End
		switch {
		case from < 0 && to >= len(x), from >= len(x), to < 0:
			clear(y)
			continue
		case from < 0:
			from = to
		case to >= len(x):
			to = from
		}
		for n := max(0, g.Start); n < min(g.End, len(x)); n++ {
			t := float64(n-g.Start+1) / float64(g.Len()+1)
			y[n] = (1-t)*x[from] + t*x[to]
		}
	}
	return y
}
