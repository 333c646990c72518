package clip

// Work returns about how many operations a fill of n samples takes of which so many are missing, evenly spread, and the most bytes
// that one section holds besides the results.
func Work(n, missing int, rate float64) (flops, bytes float64) {
	if missing == 0 {
		return 0, 0
	}
	core, long := coreSeconds*rate, min(float64(n), (coreSeconds+2*sideSeconds)*rate)
	p := float64(order(rate, n, missing))
	u := long * float64(missing) / float64(n)
	near := min(u, p*float64(missing)/float64(n)) // missing samples that take part in a row of the precision
	tiles, grains := long/(hopSeconds*rate), 1+orderSeconds/grainSeconds
	learn := long * p * 2 * windowSeconds / hopSeconds
	sweep := 3*u*near*near + 2*u*near*grains + 2*long*p + tiles*p*p
	flops = max(1, float64(n)/core) * (rounds*(learn+sweep+2*u*near*grains) + (2*sweeps+1)*sweep)
	return flops, 8 * (4*u*near + tiles*p*p/2 + 8*long)
}
