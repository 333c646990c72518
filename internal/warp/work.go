package warp

import "math"

// Work returns about how many operations the fill of a gap of n samples takes, and the most bytes that it holds at a time: every
// trial is made, and every recipe takes part. If two series are compared first, trials are made of both.
func (m Menu) Work(n int, rate float64, draws int, compared bool) (flops, bytes float64) {
	made, held := 2.0, float64(copies)
	if compared {
		made, held = 3*made, 2*held
	}
	slow := rate / math.Max(1, math.Floor(math.Min(rate/trialRate, float64(n)/trialSamples)))
	for _, c := range m.Recipes {
		flops += made * float64(len(m.Distances)) * c.Trial.work(float64(n)*slow/rate, slow, 0)
		r := c.final()
		flops += r.work(float64(n), rate, draws)
		reach := float64(r.reach(rate))
		bytes = math.Max(bytes, 8*(arrays*(2*reach+float64(n))+2*float64(draws)*float64(n)))
	}
	return flops, bytes + 8*held*float64(2*Reach(n, rate)+n)
}

const (
	arrays = 40 // of a recipe's samples: the series of its clocks, their errors, transforms and their tables
	copies = 6  // of the samples about a gap: as read, as a place, reversed, with a guess, at a lower rate

	latticeFlops  = 10 // of a stage of Burg's recursion, for each sample
	levinsonFlops = 3  // of Levinson's, for each square of the order
	solveFlops    = 5  // of a Toeplitz system, for each square of its size
	kernelFlops   = 4 * 2 * taps
)

// work returns about how many operations a recipe takes.
func (r *Recipe) work(n, rate float64, draws int) float64 {
	clocks := float64(min(max(1, r.Most), len(r.Glide.values())*len(r.Bend.values())*len(r.Level.values())))
	low := math.Min(rate, evidenceRate)
	judged := float64(len(r.Glide.values())*len(r.Bend.values()) + min(refined, 2+r.Most)*len(r.Level.values()))
	if len(r.Glide.values())*len(r.Bend.values())*len(r.Level.values()) == 1 {
		judged = 0
	}
	flops := judged * 2 * r.Evidence.Context * low * (latticeFlops*r.Evidence.Order*low + kernelFlops)
	flops += 2*r.Prefill.Context*rate*r.Prefill.Order*rate*latticeFlops + solveFlops*n*n
	order := r.Order * rate
	each := 4*5*resolution*order*math.Log2(resolution*order+2) + levinsonFlops*order*order + solveFlops*n*n + 2*n*order
	for _, e := range r.Estimates {
		samples, p := 2*e.Context*rate, e.Order*rate
		if e.Hann {
			each += 10*samples*math.Log2(samples+2) + levinsonFlops*p*p
		} else {
			each += latticeFlops * samples * p
		}
		each += kernelFlops * samples
	}
	return flops + (clocks+1)*each + float64(draws)*2*n*n
}
