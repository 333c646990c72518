package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/bayes"
)

const (
	// openGaps is the number of gaps whose details are initially open.
	openGaps = 3
	// maxSpectrograms is the maximum number of gaps with spectrograms.
	maxSpectrograms = 16
)

// A Fill is the content of a report on a filled recording, or on a recording that was only searched for damage.
type Fill struct {
	Name      string // name of the recording's file
	Output    string // name of the filled file
	Samples   int    // per channel
	Rate      int
	Channels  int
	Gaps      []restore.Gap   // in increasing order, from audio.CheckGaps
	Found     []detect.Found  // detections and labeled gaps in increasing order; nil without a search
	Search    detect.Report   // how the detections were searched
	Result    *restore.Result // nil if nothing was filled; the page then shows the detections
	Input     restore.Source  // the original recording with its gaps
	Reference restore.Source  // nil if it is unknown
	Scores    *Table          // nil without a reference
	Method    string          // method of the fill
	Settings  []Setting
	Gain      float64 // of the player in dB, at which it plays the fills without clipping them
}

// Device returns the device of the fill: a model's backend, else the CPU.
func (f *Fill) Device() string { return cmp.Or(f.Result.Device, "cpu") }

// Impute returns the report on a filled recording or, without a Result, on the detections in a recording.
func Impute(f *Fill) (*Document, error) {
	p, err := newEmbedded(f)
	if err != nil {
		return nil, err
	}
	d := &Document{Title: "Found: " + f.Name}
	if len(p.player.Clips) > 0 {
		d.Player = &p.player
	}
	size := fmt.Sprintf("%d of %d samples, %s, %d Hz, %s",
		audio.Missing(p.plain()), f.Samples, clock(f.Samples, f.Rate), f.Rate, Counted(f.Channels, "channel"))
	lead := fmt.Sprintf("%s found (%s). Nothing was filled.", Counted(len(p.gaps), "gap"), size)
	if f.Result != nil {
		d.Title = "Filled: " + f.Name
		lead = fmt.Sprintf("%s filled (%s) in %.1f s by %s on %s. The filled recording is %s.",
			Counted(len(p.gaps), "gap"), size, f.Result.Elapsed.Seconds(), f.Method, f.Device(), f.Output)
		if n := len(f.Result.Warnings()); n > 0 {
			lead += fmt.Sprintf(" %s may be unreliable; the list of gaps shows the reasons.", Counted(n, "fill"))
		}
	}
	d.Lead = append([]string{lead}, p.limits()...)
	d.add(p.overview())
	if f.Found != nil || f.Result == nil {
		d.add(f.found())
	}
	if f.Scores != nil {
		d.add(section{Title: "Scores", Tables: []Table{*f.Scores}, Text: []string{"RMSE in full scale, over the gaps (test) and " +
			"over the observed samples of the excerpts (train). STFT is the RMSE of the short-time Fourier transform. " +
			"Methods without a model of the observed samples reproduce them exactly."}})
	}
	d.add(p.list())
	d.add(p.details())
	d.addSettings(f.Settings)
	return d, nil
}

// plain returns the gaps as audio.Gap values.
func (p *embedded) plain() (gaps []audio.Gap) {
	for _, g := range p.gaps {
		gaps = append(gaps, g.Gap)
	}
	return gaps
}

// limits returns sentences about the parts that the page omits.
func (p *embedded) limits() (text []string) {
	if !p.whole {
		text = append(text, fmt.Sprintf("The page contains the recording within %.1f s of the listed gaps, because the whole recording is "+
			"too large for a browser.", aroundGap))
	}
	if p.Gain < 0 {
		text = append(text, fmt.Sprintf("The player plays all sounds %.2f dB softer, because fills exceed full scale.",
			-p.Gain))
	}
	if p.charted < len(p.gaps) {
		which := "with the least certain fills (the largest expected errors relative to the surrounding level)"
		if p.Result == nil {
			which = "with the lowest confidence"
		}
		text = append(text, fmt.Sprintf("Of %d gaps, it lists %d and plots the %d %s.",
			len(p.gaps), len(p.listed), p.charted, which))
	}
	if p.Channels > maxSeries {
		text = append(text, fmt.Sprintf("Of %d channels, it plots the first %d.", p.Channels, maxSeries))
	}
	return text
}

// overview returns the waveforms and spectrograms of the whole recording, or an empty section if the page does not contain it.
func (p *embedded) overview() section {
	if !p.whole {
		return section{}
	}
	text := "The original recording with the detections shaded."
	if p.Result != nil {
		text = "The recording with its gaps shaded, and the mean of the fill with its 95 % interval."
	}
	charts := p.waves("Waveform", text, 0, p.Samples, audio.Gap{}, true)
	return section{Title: "The recording", Play: "the whole recording", Charts: append(charts, p.spectrograms(0, p.Samples, 600, 0.025)...)}
}

// minSure orders filled gaps by decreasing expected error, and detections by increasing log-odds; those without are last.
func minSure(a, b *gap) int {
	sure := func(g *gap) float64 { return cmp.Or(g.found.LogOdds, math.Inf(1)) }
	return cmp.Or(cmp.Compare(b.relative, a.relative), cmp.Compare(sure(a), sure(b)))
}

// expectedError returns the RMS of a fill's standard deviations, and the same relative to the RMS of the surrounding samples. Both are the
// maximum over the channels.
func expectedError(fills []restore.GapFill) (sd, relative float64) {
	relative = math.NaN()
	for _, f := range fills {
		this := bayes.RMS(f.SD)
		sd = max(sd, this)
		if f.Level > 0 && !(relative >= this/f.Level) {
			relative = this / f.Level
		}
	}
	return sd, relative
}

// list returns the table of the gaps in the order of minSure.
func (p *embedded) list() section {
	if len(p.listed) == 0 {
		return section{}
	}
	t := Table{Caption: "All gaps", Words: true, Gaps: map[int]int{},
		Head: []string{"gap", "log-odds", "time", "length, ms", "channel", "kind", "warning"}}
	if len(p.listed) < len(p.gaps) {
		t.Caption = fmt.Sprintf("The first %d of %d gaps", len(p.listed), len(p.gaps))
	}
	if p.Result == nil {
		t.Caption += ", by increasing confidence."
	} else {
		t.Caption += ", by decreasing expected error, which is relative to the surrounding level."
		t.Head[1] = "expected error, %"
	}
	t.Caption += " Click the name of a gap to select it in the player."
	for i, g := range p.listed {
		p.find(g)
		row := []string{fmt.Sprintf("Gap %d", g.number), percent(g.relative), clock(g.Start, p.Rate), p.milliseconds(g.Gap), "",
			string(g.found.Kind), p.warning(g)}
		if p.Result == nil {
			row[1] = short(cmp.Or(g.found.LogOdds, math.NaN()))
		}
		if row[4] = "all"; p.Channels == 1 {
			row[4] = ""
		} else if g.Channel > 0 {
			row[4] = strconv.Itoa(g.Channel)
		}
		t.Rows = append(t.Rows, row)
		if g.embedded {
			t.Gaps[i] = g.number
		}
	}
	t.dropEmpty()
	return section{Title: "List of gaps", Tables: []Table{t}}
}

// dropEmpty removes columns in which all cells are empty.
func (t *Table) dropEmpty() {
	for c := len(t.Head) - 1; c >= 0; c-- {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return row[c] != "" }) {
			continue
		}
		t.Head = slices.Delete(t.Head, c, c+1)
		for i, row := range t.Rows {
			t.Rows[i] = slices.Delete(row, c, c+1)
		}
	}
}

// find sets the first detection that overlaps a filled gap. A gap may join several detections.
func (p *embedded) find(g *gap) {
	for i := 0; i < len(p.Found) && g.found.Kind == "" && p.Found[i].Start < g.End; i++ {
		if f := p.Found[i]; f.End > g.Start && (f.Channel == g.Channel || f.Channel == 0 || g.Channel == 0) {
			g.found = f
		}
	}
}

// warning returns the warnings about a fill by channel, "" if there are none.
func (p *embedded) warning(g *gap) (text string) {
	for _, f := range g.fills {
		if f.Warning == "" {
			continue
		}
		if text != "" {
			text += "; "
		}
		if p.Channels > 1 && g.Channel == 0 {
			text += fmt.Sprintf("in channel %d ", f.Channel+1)
		}
		text += f.Warning
	}
	return text
}

// details returns the sections of the gaps with charts, in the order of the list.
func (p *embedded) details() section {
	s := section{Title: "Gaps"}
	if p.charted > maxSpectrograms {
		s.Text = []string{fmt.Sprintf("Only the first %d have spectrograms, to keep the page small.", maxSpectrograms)}
	}
	text := "The mean with its 95 % interval."
	if p.Result == nil {
		text = "The original recording with the detections shaded."
	}
	for _, g := range p.listed {
		if !g.charted {
			continue
		}
		name, side := fmt.Sprintf("gap %d", g.number), max(3*g.Len()/2, 8)
		charts := p.waves("Waveform of "+name, text, max(g.lo, g.Start-side), min(g.hi, g.End+side+1), g.Gap, p.Result == nil)
		if len(s.Details) < maxSpectrograms {
			charts = append(charts, p.spectrograms(g.lo, g.hi, 300, 0.010)...)
		}
		title := fmt.Sprintf("Gap %d: %s ms at %s, samples %d to %d",
			g.number, p.milliseconds(g.Gap), clock(g.Start, p.Rate), g.Start, g.End)
		if g.Channel > 0 {
			title += fmt.Sprintf(", channel %d", g.Channel)
		}
		s.Details = append(s.Details, section{ID: fmt.Sprintf("gap%d", g.number), Title: title, Open: len(s.Details) < openGaps,
			Play: name, Gap: g.number, Text: []string{p.about(g)}, Charts: charts})
	}
	return s
}

// about returns the text about a gap.
func (p *embedded) about(g *gap) (text string) {
	if g.found.Kind != "" {
		text = "Found: " + string(g.found.Kind)
		if g.found.LogOdds != 0 {
			text += fmt.Sprintf(", confidence %.0f %%", 100*g.found.Confidence())
		}
		text += ". "
	}
	if p.Result == nil {
		return text
	}
	text += fmt.Sprintf("Expected error %s %% of the surrounding level, %s of full scale.", percent(g.relative), short(g.sd))
	if warning := p.warning(g); warning != "" {
		text += " This fill may be unreliable: " + warning + "."
	}
	if g.reference != nil {
		var fill []float64
		for _, f := range g.fills {
			fill = append(fill, f.Values(-1)...)
		}
		reference := slices.Concat(g.reference...)
		text += fmt.Sprintf(" RMSE against the reference %s, of silence %s.", short(bayes.RMSE(fill, reference)), short(bayes.RMS(reference)))
	}
	return text
}

// milliseconds formats the length of a gap in milliseconds.
func (p *embedded) milliseconds(g audio.Gap) string {
	return fmt.Sprintf("%.4g", 1000*float64(g.Len())/float64(p.Rate))
}

// percent formats a share in percent, or as a dash if it is unknown.
func percent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.0f", 100*v)
}

// clock formats the time of a sample, in minutes if it is at least one minute.
func clock(sample, rate int) string {
	s := float64(sample) / float64(rate)
	if s < 60 {
		return fmt.Sprintf("%.3f s", s)
	}
	return fmt.Sprintf("%d:%06.3f min", int(s)/60, math.Mod(s, 60))
}
