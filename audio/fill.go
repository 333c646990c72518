package audio

import "slices"

// The fills take one channel x and gaps as CheckGaps returns them, and return a copy of x with new samples in the gaps. They
// never use the samples of x inside the gaps.

// FillSilence puts zeros into the gaps.
func FillSilence(x []float64, gaps []Gap) []float64 {
	y := slices.Clone(x)
	for i, missing := range Mask(gaps, len(x)) {
		if missing {
			y[i] = 0
		}
	}
	return y
}

// FillLinear joins the samples on either side of each gap by a straight line. At the start or the end of the recording it
// repeats the one neighboring sample.
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
