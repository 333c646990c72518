package detect

import (
	"context"
	"fmt"
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

func newClicks(ctx context.Context, r recording, o *Options) (detector, error) {
	step, err := r.step(o.Step)
	d := &clickDetector{r, clicks.New(r.rate, step, o.Sensitivity+NearMiss), o.Sensitivity, nil}
	if err != nil || o.Vinyl == Off {
		return d, err
	}
	d.Search = clicks.NewVinyl(r.rate, step, o.Sensitivity+NearMiss)
	grooves, err := d.listen(ctx)
	if err != nil {
		return nil, err
	}
	mean := clicks.MeanGroove(grooves)
	vinyl := o.Vinyl == On || mean.Vinyl()
	if o.Report != nil {
		o.Report.Vinyl = Groove{vinyl, mean.Quiet, mean.Spread, mean.Dispersion}
	}
	if !vinyl {
		d.Search = clicks.New(r.rate, step, o.Sensitivity+NearMiss)
		return d, nil
	}
	d.grooves = grooves
	d.SetRate(mean.Rate)
	return d, nil
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
		lo := i * (d.n - 1) / n / hop * hop
		if n*size >= d.n {
			lo = i * size
		}
		hi := min(d.n, lo+size)
		from := max(0, lo-margin)
		x, err := d.Read(from, min(d.n, hi+margin))
		if err != nil {
			return fmt.Errorf("samples %d:%d: %w", lo, hi, err)
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

func (d *clickDetector) choose(all []candidate) (out []candidate) {
	var near []candidate
	some := make([]clicks.Candidate, len(all))
	for i, c := range all {
		some[i] = clicks.Candidate{Lo: c.lo, Hi: c.hi, LogOdds: c.logOdds}
	}
	found := func(sensitivity float64) (out []candidate) {
		for _, c := range d.Choose(some, d.n, sensitivity) {
			edge := clickEdge(c.Hi - c.Lo)
			out = append(out, candidate{lo: max(0, c.Lo-edge), hi: min(d.n, c.Hi+edge), logOdds: c.LogOdds})
		}
		return joined(out)
	}

	out = found(d.sensitivity)
	at := 0
	for _, c := range found(min(MaxSensitivity, d.sensitivity+NearMiss)) {
		for at < len(out) && out[at].hi < c.lo {
			at++
		}
		if c.near = at == len(out) || c.hi < out[at].lo; c.near {
			near = append(near, c)
		}
	}
	return append(out, near...)
}
