// Package detect finds damage in a recording: clicks, dropouts, runs of zeros, and clipped samples. Each kind is found by a detector
// that reads the recording block by block and returns candidates with their log-odds.
//
//	Clicks     ~~~~~~|~~~~~~~     a few samples that the sound around them does not predict
//	Dropouts   ~~~~~~____~~~~     a short run of one value
//	Zeros      ~~~~~~0000~~~~     a run of exact zeros
//	Clipped    /''\__/''\__/'     peaks cut off at one level
//
// Find damage in a recording and fill it:
//
//	rec, err := audio.Open("in.wav")
//	found, err := detect.Find(ctx, rec, rec.Len(), rec.Rate, detect.Options{Kinds: detect.Kinds})
//	for _, f := range found {
//		gaps = append(gaps, f.Gap)
//	}
//	r, err := restore.Fill(ctx, rec.Samples, rec.Rate, gaps, restore.Options{})
package detect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A Kind is a kind of damage.
type Kind string

// The kinds of damage.
const (
	Clicks   Kind = "clicks"   // bursts of a few samples that differ from the surrounding sound
	Dropouts Kind = "dropouts" // short runs of a constant value: zeros, with or without dither, or a repeated sample
	Zeros    Kind = "zeros"    // runs of exact zeros with sound on both sides
	Clipped  Kind = "clipped"  // samples at the largest or smallest values of the recording or of a part of it
)

// Kinds contains all kinds of damage.
var Kinds = []Kind{Clicks, Dropouts, Zeros, Clipped}

// Options configures Find. Only Kinds is required.
type Options struct {
	Kinds       []Kind
	Sensitivity float64            // above 0 to 10, higher values find more damage and more false positives; 0: DefaultSensitivity
	Step        float64            // quantization step of the samples, such as 1/32768; 0: unknown
	Vinyl       Switch             // whether clicks are searched as on a record; Auto: if the recording has noise of a groove
	Mono        Switch             // whether clicks are searched in the difference of two channels, too; Auto: on a mono disc
	Report      *Report            // if not nil, set by Find
	Progress    func(done float64) // called with the share of the recording that has been searched; calls do not overlap
}

// A Switch says when a mode of the search is used.
type Switch string

// The values of a Switch.
const (
	Auto Switch = ""    // by the evidence
	On   Switch = "on"  // always
	Off  Switch = "off" // never
)

// A Report describes how Find searched for clicks.
type Report struct {
	Vinyl Groove  // unless Options.Vinyl is Off
	Mono  Walls   // of a recording with two channels, unless Options.Mono is Off
	Near  []Found // clicks that are found only at a sensitivity that is higher by up to NearMiss, in increasing order
}

// NearMiss is the difference of sensitivity up to which a Report contains further clicks.
const NearMiss = 3

// A Groove is the evidence that a recording comes from a record, as the mean over its channels. Ticks come from the disc,
// so they also occur where the recording is quiet, independently of each other, and the noise floor there is steady. Quiet
// parts are the quietest third of its fifteen quietest seconds.
type Groove struct {
	Used       bool    // whether clicks were searched as on a record
	Quiet      float64 // ticks per second in the quiet parts
	Spread     float64 // of the noise floor of the quiet parts, in decibels
	Dispersion float64 // variance over mean of the number of ticks in 0.1 s; 1 for independent ticks
	Doubt      string  // why these do not show a record, such as "the noise there is not steady"; "" if they do
}

// DefaultSensitivity balances recall and precision on recordings.
const DefaultSensitivity, MaxSensitivity = 5.0, 10.0

// Found is damage of one kind in one channel, or in all channels if Gap.Channel is 0.
type Found struct {
	audio.Gap
	Kind    Kind    // of the damage
	LogOdds float64 // of damage against undamaged sound, in nats
}

// Confidence returns the probability 1/(1+exp(−LogOdds)) of damage.
func (f Found) Confidence() float64 { return 1 / (1 + math.Exp(-f.LogOdds)) }

// Label returns the detection as a label whose text is its kind and, if it has log-odds, its confidence, such as "clicks 97%".
func (f Found) Label() audio.Label {
	if f.LogOdds == 0 {
		return audio.Label{Gap: f.Gap, Text: string(f.Kind)}
	}
	return audio.Label{Gap: f.Gap, Text: fmt.Sprintf("%s %.0f%%", f.Kind, 100*f.Confidence())}
}

// FromLabel converts a label written by Label to a detection. For any other label, the kind of the detection is the text, and it has no
// log-odds.
func FromLabel(l audio.Label) Found {
	kind, confidence, _ := strings.Cut(l.Text, " ")
	percent, err := strconv.ParseFloat(strings.TrimSuffix(confidence, "%"), 64)
	if !slices.Contains(Kinds, Kind(kind)) || err != nil || !(percent >= 0 && percent <= 100) {
		return Found{Gap: l.Gap, Kind: Kind(l.Text)}
	}
	p := min(max(percent/100, 0.001), 0.999)
	return Found{l.Gap, Kind(kind), cmp.Or(math.Log(p/(1-p)), 1e-9)} // 0 would mean no log-odds
}

// A detector finds candidates for one kind of damage in one recording.
type detector interface {
	// size returns the number of samples in a block, and in the margin on either side of it that find reads.
	size() (block, margin int)
	// find returns the candidates that end in the block. It is called concurrently for different blocks.
	find(b block) []candidate
	// choose returns the candidates of a channel that are reported, and those that a higher sensitivity would report.
	// They need not be in order.
	choose(all []candidate) []candidate
}

// A block is the samples [lo, hi) of one channel.
type block struct {
	x       [][]float64 // samples [from, …) of all channels: the block and its margins, shorter at the recording's ends
	channel int
	from    int
	lo, hi  int
}

// A candidate is a hypothesis that the samples [lo, hi) are damaged.
type candidate struct {
	lo, hi  int
	logOdds float64
	width   int  // dropouts: distance from their middle in quantization steps; flatter ones are preferred; clicks: 0 or inResidual
	near    bool // clicks: found only at a higher sensitivity
}

// detectors contains the constructor of each kind's detector.
var detectors = map[Kind]func(ctx context.Context, r recording, o *Options) (detector, error){
	Clicks: newClicks, Dropouts: newDropouts, Zeros: newZeros, Clipped: newClipped,
}

// A recording is the input of detectors. It has n samples in each channel.
type recording struct {
	audio.Source
	n, rate, channels int
}

// blockSamples is the number of samples in a block of most detectors.
const blockSamples = 1 << 15

// tileSamples is the number of samples of each channel that Find reads at a time.
var tileSamples = 4 * blockSamples

// tiles reads the recording in tiles [lo, hi) with a margin on each side; x begins at sample from. It stops at an error or when ctx ends.
func (r recording) tiles(ctx context.Context, margin int, do func(x [][]float64, from, lo, hi int) error) error {
	for lo := 0; lo < r.n; lo += tileSamples {
		hi := min(r.n, lo+tileSamples)
		from := max(0, lo-margin)
		x, err := r.Read(from, min(r.n, hi+margin))
		if err = cmp.Or(ctx.Err(), err); err == nil {
			err = do(x, from, lo, hi)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Find finds damage in a recording of n samples in each channel, in increasing order. Overlapping detections of several kinds in a channel
// are merged, and the result has the kind that comes first in Options.Kinds. Find reads the recording in tiles, so its memory grows only
// with the number of detections. If ctx ends, Find returns the detections so far with an error that wraps the error of ctx. Other errors
// wrap audio.ErrArgument or the error of the source.
func Find(ctx context.Context, src audio.Source, n, rate int, o Options) ([]Found, error) {
	o.Sensitivity = cmp.Or(o.Sensitivity, DefaultSensitivity)
	switch {
	case src == nil || n <= 0 || rate <= 0:
		return nil, fmt.Errorf("%d samples at %d Hz of %v, must be a recording: %w", n, rate, src, audio.ErrArgument)
	case !(o.Sensitivity > 0 && o.Sensitivity <= MaxSensitivity):
		return nil, fmt.Errorf("sensitivity %v, must be above 0 and at most 10: %w", o.Sensitivity, audio.ErrArgument)
	}
	none, err := src.Read(0, 0)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	r := recording{src, n, rate, len(none)}
	all := make([]detector, len(o.Kinds))
	for i, k := range o.Kinds {
		if detectors[k] == nil {
			return nil, fmt.Errorf("unknown kind %q, must be one of %q: %w", k, Kinds, audio.ErrArgument)
		}
		if all[i], err = detectors[k](ctx, r, &o); err != nil {
			return nil, fmt.Errorf("find %s: %w", k, err)
		}
	}
	found, err := r.search(ctx, all, o.Progress)
	channels, near := make([][]Found, r.channels), make([][]Found, r.channels)
	for i, d := range all {
		for c := range channels {
			for _, f := range d.choose(found[i*r.channels+c]) {
				kind := o.Kinds[i]
				g := audio.Gap{Start: f.lo, End: f.hi, Channel: c + 1, Clipped: kind == Clipped, Click: kind == Clicks}
				if f.near {
					near[c] = append(near[c], Found{g, o.Kinds[i], f.logOdds})
					continue
				}
				channels[c] = append(channels[c], Found{g, o.Kinds[i], f.logOdds})
			}
		}
	}
	for c := range channels {
		channels[c] = apart(channels[c], o.Kinds)
	}
	if o.Report != nil {
		o.Report.Near = together(near)
	}
	if err != nil {
		err = fmt.Errorf("%w", err)
	}
	return together(channels), err
}

// search returns the candidates [detector·channels + channel]. If it stops early, they are the candidates of complete tiles.
func (r recording) search(ctx context.Context, all []detector, progress func(float64)) ([][]candidate, error) {
	type job struct {
		of     int
		d      detector
		b      block
		margin int
	}
	out, widest := make([][]candidate, len(all)*r.channels), 0
	for _, d := range all {
		size, margin := d.size()
		widest = max(widest, size+margin)
	}
	return out, r.tiles(ctx, widest, func(x [][]float64, from, lo, hi int) error {
		var jobs []job
		for i, d := range all {
			size, margin := d.size()
			for at := (lo + size - 1) / size * size; at < hi; at += size {
				for c := range x {
					jobs = append(jobs, job{i*r.channels + c, d, block{channel: c, lo: at, hi: min(r.n, at+size)}, margin})
				}
			}
		}
		found := make([][]candidate, len(jobs))
		parallel.For(len(jobs), runtime.GOMAXPROCS(0), func(i int) {
			if ctx.Err() == nil {
				b := jobs[i].b
				b.from = max(0, b.lo-jobs[i].margin)
				for _, own := range x {
					b.x = append(b.x, own[b.from-from:min(b.hi+jobs[i].margin, r.n)-from])
				}
				found[i] = jobs[i].d.find(b)
			}
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, j := range jobs {
			out[j.of] = append(out[j.of], found[i]...)
		}
		if progress != nil {
			progress(float64(hi) / float64(r.n))
		}
		return nil
	})
}
