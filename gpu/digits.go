package gpu

import "math"

// In mixed precision an adjoint's matrix goes into digits before the pass, each
// run's part of it by itself (pullback_mixed.cu).
const (
	digitTile = 64
	// mostDigits is how many features a run may have: the digits' products are
	// then added in 32 bits without overflow.
	mostDigits = 32768
)

// digitTables are pullback_digits' and the place of each run's digits.
type digitTables struct {
	runs, jobs []int64
	places     []int64
	bytes      int64
}

func newDigitTables(runs []run) (d digitTables) {
	for i, r := range runs {
		tiles := int64(parts(r.m, digitTile))
		d.runs = append(d.runs, int64(r.f0), int64(r.m), int64(r.split), r.diag0, r.below, r.diag1, d.bytes, 0)
		for t := range tiles {
			d.jobs = append(d.jobs, int64(i), t)
		}
		d.places = append(d.places, d.bytes)
		d.bytes += tiles*tiles*20480 + tiles*1536
	}
	return d
}

// placesOf are the places of the stretches' runs.
func (d *digitTables) placesOf(all []stretch) (places []int64) {
	for _, s := range all {
		places = append(places, d.places[s.run])
	}
	return places
}

// digits splits the matrix that stands on the card.
func (s *share) digits(op operation, p *plan, a *arguments) error {
	return s.queue.launch(digitsMixed, (p.begin[digitPlaces]-p.begin[digitJobs])/2, []uint64{
		s.section(op, p, digitRuns, 0, 0), s.section(op, p, digitJobs, 0, 0),
		a.even, math.Float64bits(a.delta), uint64(a.q), a.center, a.decay, a.turn, a.amp,
		s.address(arrayGram), s.address(arrayRoom),
	})
}
