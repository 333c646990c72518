package detect

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

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
	by          int // factor by which the sample rate of the search is lower
	sensitivity float64
	grooves     []clicks.Groove // of each channel in vinyl mode; nil otherwise
}

// newClicks chooses how to search by the evidence of a record and of a mono disc.
func newClicks(ctx context.Context, r recording, o *Options) (detector, error) {
	step, err := r.step(o.Step)
	if err != nil {
		return nil, err
	}
	by := max(1, r.rate/clickRate)
	d := &clickDetector{recording: r, by: by, sensitivity: o.Sensitivity}
	d.Search = clicks.New(r.rate/by, step, o.Sensitivity+NearMiss)
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
	// The evidence is the same for all sensitivities.
	d.Search = clicks.New(normal.Rate, normal.Step, DefaultSensitivity+NearMiss).Vinyl()
	grooves, err := d.listen(ctx)
	if err != nil {
		return Groove{}, err
	}
	mean := clicks.MeanGroove(grooves)
	g := Groove{by == On, mean.Quiet, mean.Spread, mean.Dispersion, mean.Doubt()}
	g.Used = g.Used || g.Doubt == ""
	if !g.Used {
		d.Search = normal
		return g, nil
	}
	d.Search, d.grooves = normal.Vinyl(), grooves
	d.SetRate(mean.Rate)
	return g, nil
}

// decimated returns every by-th sample of x, which begins at sample from, after a low-pass filter, and the index of the
// first of them at the lower sample rate. The model of the search covers less time at a higher rate.
func decimated(x []float64, from, by int) (y []float64, first int) {
	if by == 1 {
		return x, from
	}
	reach := decimateReach * by
	h := make([]float64, 2*reach+1)
	for i := range h {
		t := float64(i-reach) / float64(by)
		h[i] = 1
		if t != 0 {
			h[i] = math.Sin(math.Pi*t) / (math.Pi * t)
		}
		h[i] *= 0.5 + 0.5*math.Cos(math.Pi*float64(i-reach)/float64(reach+1))
	}
	first = (from + by - 1) / by
	for at := first*by - from; at < len(x); at += by {
		lo, hi := max(0, at-reach), min(len(x), at+reach+1)
		taps := h[lo-(at-reach) : hi-(at-reach)]
		y = append(y, floats.Dot(taps, x[lo:hi])/floats.Sum(taps)) // at the ends, fewer taps
	}
	return y, first
}

// listen returns the evidence of a groove in each channel, from the quietest groovePieces pieces of the recording.
func (d *clickDetector) listen(ctx context.Context) ([]clicks.Groove, error) {
	hop, _ := d.size()
	size := hop * max(1, grooveSeconds*d.rate/hop)
	starts, err := d.quietest(ctx, size)
	if err != nil {
		return nil, err
	}
	pieces := make([][]clicks.Piece, d.channels)
	for c := range pieces {
		pieces[c] = make([]clicks.Piece, len(starts))
	}
	err = parallel.Try(len(starts), runtime.GOMAXPROCS(0), func(i int) error {
		lo, hi := starts[i], min(d.n, starts[i]+size)
		x, from, err := d.piece(ctx, lo, hi)
		if err != nil {
			return err
		}
		for c, x := range x {
			pieces[c][i] = d.Piece(x, from, lo/d.by, min(hi/d.by, from+len(x)))
		}
		return nil
	})
	grooves := make([]clicks.Groove, d.channels)
	for c := range grooves {
		grooves[c] = d.NewGroove(pieces[c])
	}
	return grooves, err
}

// quietest returns the first samples of the groovePieces pieces with the lowest noise floor, which are not digital
// silence, in increasing order, or of all pieces if there are not more. On a long side, these are the grooves between
// the pieces of music.
func (d *clickDetector) quietest(ctx context.Context, size int) (starts []int, err error) {
	for lo := 0; lo < d.n; lo += size {
		starts = append(starts, lo)
	}
	if len(starts) <= groovePieces {
		return starts, nil
	}
	starts = starts[:d.n/size]
	floor := make([]float64, len(starts))
	err = parallel.Try(len(starts), runtime.GOMAXPROCS(0), func(i int) error {
		x, _, err := d.piece(ctx, starts[i], starts[i]+size)
		for _, x := range x {
			floor[i] += d.Floor(x)
		}
		return err
	})
	order := make([]int, len(starts))
	for i, v := range floor {
		if order[i] = i; v == 0 {
			floor[i] = math.Inf(1)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(floor[i], floor[j]) })
	order = order[:groovePieces]
	slices.Sort(order)
	for i, k := range order {
		starts[i] = k * size
	}
	return starts[:groovePieces], err
}

// piece returns the samples [lo, hi) of all channels with the margins of the search, at its sample rate, and the index
// of the first one.
func (d *clickDetector) piece(ctx context.Context, lo, hi int) (x [][]float64, from int, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	_, margin := d.size()
	first := max(0, lo-margin)
	x, err = d.Read(first, min(d.n, hi+margin))
	for c := range x {
		x[c], from = decimated(x[c], first, d.by)
	}
	return x, from, err
}

func (d *clickDetector) size() (block, margin int) {
	block, margin = d.Size()
	return block * d.by, margin*d.by + decimateReach*d.by
}

// find returns candidates at the sample rate of the search.
func (d *clickDetector) find(b block) (out []candidate) {
	x, from := decimated(b.x[b.channel], b.from, d.by)
	all := d.Find(x, from, b.lo/d.by, (b.hi+d.by-1)/d.by)
	if d.grooves != nil {
		d.grooves[b.channel].Attacks(d.Search, x, from, all)
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
		for _, c := range d.Choose(some, d.n/d.by, sensitivity) {
			lo, hi := d.by*c.Lo-d.by/2, d.by*(c.Hi-1)+d.by/2+1
			out = append(out, candidate{lo: max(0, lo), hi: min(d.n, hi), logOdds: c.LogOdds})
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
