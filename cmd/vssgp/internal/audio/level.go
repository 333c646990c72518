package audio

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/fileio"
)

// levelFlags are the flags for the level and the sample format of the output.
type levelFlags struct {
	gain   *float64 // in dB, at most 0; nil: as much as the fills need
	auto   bool     // --gain auto was given
	format string
}

// Values of --gain and --format.
const (
	autoGain    = "auto"
	inputFormat = "input"
	floatFormat = "float"
	minGain     = -60.0 // dB
)

// gainValue returns the value of --gain.
func (l *levelFlags) gainValue() *cli.Value {
	return &cli.Value{Kind: "dB", Words: []string{autoGain}, Text: autoGain, Parse: func(s string) error {
		if l.gain, l.auto = nil, s == autoGain; l.auto {
			return nil
		}
		number := s
		if n := len(s) - 2; n > 0 && strings.EqualFold(s[n:], "db") {
			number = strings.TrimSpace(s[:n])
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !(v >= minGain && v <= 0) {
			return fmt.Errorf("must be auto, or %v to 0 decibels, such as -6dB", minGain)
		}
		l.gain = &v
		return nil
	}}
}

// encoding returns the encoding of the output.
func (l *levelFlags) encoding(rec *audio.File) audio.Encoding {
	if l.format == floatFormat {
		return audio.Float32
	}
	return rec.Encoding()
}

// overflow returns the peak of the fills and the given number of draws in decibels above the largest values of an
// encoding. It can omit unreliable fills, because one wrong fill would lower the whole recording.
func overflow(f *report.Fill, e audio.Encoding, draws int, reliable bool) float64 {
	most := 0.0
	for fill := range f.Result.All() {
		if reliable && fill.Warning != "" {
			continue
		}
		for draw := -1; draw < draws; draw++ {
			for _, v := range fill.Values(draw) {
				most = max(most, v/(1-e.Step()), -v)
			}
		}
	}
	return 20 * math.Log10(most)
}

// setLevel determines the gain of the output. With --gain auto, it is 0 unless clipped samples were restored or
// auto was given. It is a multiple of 0.01 dB, so that the printed value reproduces the output.
func (r *repair) setLevel() {
	f, l, e := r.page, &r.level, r.level.encoding(r.rec)
	switch {
	case l.gain != nil:
		r.gain = *l.gain
	case f.Result == nil:
	case !e.Float && (l.auto || slices.ContainsFunc(f.Result.Gaps, func(g audio.Gap) bool { return g.Clipped })):
		r.gain = -max(0, math.Ceil(100*overflow(f, e, r.options.Draws, true))/100)
		if r.gain = max(r.gain, minGain); r.gain < 0 {
			r.env.Note("the output is %.2f dB softer than the input, because fills exceed full scale; --gain 0 keeps "+
				"the level and clips them, --format float writes them without a change of level", -r.gain)
		}
	}
	f.Gain = r.gain
	if f.Result != nil && e.Float {
		f.Gain = min(r.gain, -overflow(f, audio.PCM16, 0, false)) // for the player, which cannot play floats above full scale
	}
}

// factor returns the gain of the output as a factor.
func (r *repair) factor() float64 { return math.Pow(10, r.gain/20) }

// outputFile returns the input at the level and in the encoding of the output. Without a gain and with the input's
// encoding, it is the input, whose bits are copied.
func (r *repair) outputFile() (*audio.File, error) {
	e := r.level.encoding(r.rec)
	if r.gain == 0 && e == r.rec.Encoding() {
		return r.rec, nil
	}
	return r.rec.Scaled(r.factor(), e)
}

// noteClipped reports samples that an output cannot store.
func (r *repair) noteClipped(path string, clipped int, what string) {
	if clipped == 0 {
		return
	}
	by, instead := "", "--format float keeps them"
	if path == r.output {
		by = fmt.Sprintf(" by up to %.2f dB", r.gain+overflow(r.page, r.rec.Encoding(), 0, false))
		if !r.level.auto {
			instead = "--gain auto or " + instead
		}
	}
	r.env.Note("%s: clipped %s that exceeded full scale%s; %s", path, cli.Counted(clipped, what), by, instead)
}

// removedFile returns the file of --removed, the input minus the output, both at the level of the output.
// changes contains the changed samples of the output.
func (r *repair) removedFile(out *audio.File, changes []audio.Change) (file fileio.File, err error) {
	e := out.Encoding()
	silence, err := r.rec.Scaled(0, e)
	if err != nil {
		return file, err
	}
	removed := make([]audio.Change, len(changes))
	for i, c := range changes {
		removed[i] = audio.Change{Start: c.Start, Values: make([][]float64, len(c.Values))}
		for channel, v := range c.Values {
			if v == nil {
				continue
			}
			before, err := out.Read(c.Start, c.Start+len(v))
			if errors.Is(err, audio.ErrFormat) { // a gap may have values that are not finite
				before, err = silence.Read(c.Start, c.Start+len(v))
			}
			if err != nil {
				return file, datafile.FromFile(r.input, err)
			}
			for n, v := range v {
				before[channel][n] -= e.Nearest(v)
			}
			removed[i].Values[channel] = before[channel]
		}
	}
	patch, clipped, err := silence.Patch(removed)
	r.noteClipped(r.removed, clipped, "removed sample")
	return fileio.File{Path: r.removed, Write: func(w io.Writer) error { return patch.Write(w, r.removedIn) }}, err
}
