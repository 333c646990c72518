package detect

import (
	"context"
	"runtime"

	"github.com/vssgp/vssgp/audio/internal/clicks"
	"github.com/vssgp/vssgp/internal/parallel"
)

// clickEdge returns the number of samples added on each side of a click with the given length, because clicks fade in and out below the
// noise. docs/repair-clicks.md shows the effect of fewer samples.
func clickEdge(length int) int { return 1 + length/5 }

// clickDetector finds clicks and crackle (see package clicks).
type clickDetector struct {
	recording
	*clicks.Search
	sensitivity float64
	grooves     []clicks.Groove // of each channel in vinyl mode; nil otherwise
}

// newClicks chooses how to search by the evidence of a record and of a mono disc.
func newClicks(ctx context.Context, r recording, o *Options) (detector, error) {
	step, err := r.step(o.Step)
	if err != nil {
		return nil, err
	}
	d := &clickDetector{recording: r, Search: clicks.New(r.rate, step, o.Sensitivity+NearMiss), sensitivity: o.Sensitivity}
	var report Report
	if o.Vinyl != Off {
		if report.Vinyl, err = d.vinyl(ctx, o.Vinyl); err != nil {
			return nil, err
		}
	}
	if o.Mono != Off && r.channels == 2 {
		if report.Mono, err = r.walls(ctx); err != nil {
			return nil, err
		}
		report.Mono.Used = o.Mono == On || report.Mono.mono()
	}
	if o.Report != nil {
		*o.Report = report
	}
	if report.Mono.Used {
		return &wallDetector{d, clicks.NewNoise(r.rate, step, o.Sensitivity)}, nil
	}
	return d, nil
}

// vinyl looks for noise of a groove, and selects the vinyl mode if there is any or if it is on.
func (d *clickDetector) vinyl(ctx context.Context, by Switch) (Groove, error) {
	normal := d.Search
	d.Search = normal.Vinyl()
	grooves, err := d.listen(ctx)
	if err != nil {
		return Groove{}, err
	}
	mean := clicks.MeanGroove(grooves)
	g := Groove{by == On || mean.Vinyl(), mean.Quiet, mean.Spread, mean.Dispersion}
	if !g.Used {
		d.Search = normal
		return g, nil
	}
	d.grooves = grooves
	d.SetRate(mean.Rate)
	return g, nil
}

// listen returns the evidence of a groove in each channel, from at most groovePieces pieces of the recording.
func (d *clickDetector) listen(ctx context.Context) ([]clicks.Groove, error) {
	hop, margin := d.Size()
	size := hop * max(1, grooveSeconds*d.rate/hop)
	n := min(groovePieces, (d.n+size-1)/size)
	pieces := make([][]clicks.Piece, d.channels)
	for c := range pieces {
		pieces[c] = make([]clicks.Piece, n)
	}
	err := parallel.Try(n, runtime.GOMAXPROCS(0), func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		lo := i * size // or evenly spaced
		if n*size < d.n {
			lo = i * (d.n - size) / (n - 1) / hop * hop
		}
		hi := min(d.n, lo+size)
		from := max(0, lo-margin)
		x, err := d.Read(from, min(d.n, hi+margin))
		if err != nil {
			return err
		}
		for c := range pieces {
			pieces[c][i] = d.Piece(x[c], from, lo, hi)
		}
		return nil
	})
	grooves := make([]clicks.Groove, d.channels)
	for c := range grooves {
		grooves[c] = d.NewGroove(pieces[c])
	}
	return grooves, err
}

func (d *clickDetector) size() (block, margin int) { return d.Size() }

func (d *clickDetector) find(b block) (out []candidate) {
	x := b.x[b.channel]
	all := d.Find(x, b.from, b.lo, b.hi)
	if d.grooves != nil {
		all = d.grooves[b.channel].Plausible(d.Search, x, b.from, all)
	}
	for _, c := range all {
		out = append(out, candidate{lo: c.Lo, hi: c.Hi, logOdds: c.LogOdds})
	}
	return out
}

// choose returns the clicks of a channel, and those that a sensitivity higher by NearMiss would find.
func (d *clickDetector) choose(all []candidate) []candidate {
	some := make([]clicks.Candidate, len(all))
	for i, c := range all {
		some[i] = clicks.Candidate{Lo: c.lo, Hi: c.hi, LogOdds: c.logOdds}
	}
	at := func(sensitivity float64) (out []candidate) {
		for _, c := range d.Choose(some, d.n, sensitivity) {
			out = append(out, candidate{lo: c.Lo, hi: c.Hi, logOdds: c.LogOdds})
		}
		return d.withEdges(out)
	}
	return withNear(at(d.sensitivity), at(min(MaxSensitivity, d.sensitivity+NearMiss)))
}

// withNear appends the clicks of more that touch no click of found. Both are in increasing order.
func withNear(found, more []candidate) []candidate {
	out, k := found, 0
	for _, c := range more {
		for k < len(found) && found[k].hi < c.lo {
			k++
		}
		if c.near = k == len(found) || c.hi < found[k].lo; c.near {
			out = append(out, c)
		}
	}
	return out
}

// withEdges returns clicks with their edges in increasing order. It merges clicks that touch or overlap.
func (d *clickDetector) withEdges(all []candidate) (out []candidate) {
	for _, c := range all {
		edge := clickEdge(c.hi - c.lo)
		out = append(out, candidate{lo: max(0, c.lo-edge), hi: min(d.n, c.hi+edge), logOdds: c.logOdds})
	}
	return joined(out)
}
