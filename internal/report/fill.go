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
	// openGaps is how many details of gaps are open at first.
	openGaps = 3
	// mostSpectrograms bounds the gaps that have spectrograms.
	mostSpectrograms = 16
)

// Fill is what Impute reports on: a filled recording, or one that was only searched for damage.
type Fill struct {
	Name      string // of the recording's file
	Output    string // of the filled one's
	Samples   int    // per channel
	Rate      int
	Channels  int
	Gaps      []restore.Gap   // rising, as audio.CheckGaps returns them
	Found     []detect.Found  // in increasing order, also gaps with a label; nil: nothing was searched for
	Result    *restore.Result // nil: nothing was filled, and the page shows what was found
	Input     restore.Source  // the recording as it was given, with its gaps
	Reference restore.Source  // nil: none is known
	Scores    *Table          // nil: no reference
	Method    string          // that filled
	Settings  []Setting
}

// Device returns what filled the gaps: a model's backend, else the CPU.
func (f *Fill) Device() string { return cmp.Or(f.Result.Device, "cpu") }

// Impute reports on a filled recording, or without a Result on what was found in one.
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
			lead += fmt.Sprintf(" %s should not be trusted; the list of gaps says why.", Counted(n, "fill"))
		}
	}
	d.Lead = append([]string{lead}, p.limits()...)
	d.add(p.overview())
	if f.Found != nil || f.Result == nil {
		d.add(f.found())
	}
	if f.Scores != nil {
		d.add(section{Title: "Scores", Tables: []Table{*f.Scores}, Text: []string{"RMSE in full scale; test: over the gaps, " +
			"train: over the observed samples of the excerpts. STFT: the same of the short-time Fourier transform. " +
			"A fill without a model of the observed samples reproduces them."}})
	}
	d.add(p.list())
	d.add(p.details())
	d.addSettings(f.Settings)
	return d, nil
}

// plain returns the gaps without what the page shows of them.
func (p *embedded) plain() (gaps []audio.Gap) {
	for _, g := range p.gaps {
		gaps = append(gaps, g.Gap)
	}
	return gaps
}

// limits says which parts the page leaves out, and why.
func (p *embedded) limits() (text []string) {
	if !p.whole {
		text = append(text, fmt.Sprintf("The page contains the recording within %.1f s of the listed gaps: all of it would make the page "+
			"too large for a browser.", aroundGap))
	}
	if p.charted < len(p.gaps) {
		which := "whose fills are least sure (the largest expected errors relative to the level around)"
		if p.Result == nil {
			which = "that are surest"
		}
		text = append(text, fmt.Sprintf("Of %d gaps it lists %d and draws %d, those %s, the most for a page.",
			len(p.gaps), len(p.listed), p.charted, which))
	}
	if p.Channels > mostSeries {
		text = append(text, fmt.Sprintf("Of %d channels it draws the first %d.", p.Channels, mostSeries))
	}
	return text
}

// overview returns the waveforms and spectrograms of the whole recording; nothing if the page does not contain it.
func (p *embedded) overview() section {
	if !p.whole {
		return section{}
	}
	text := "The recording as given; what was found is shaded."
	if p.Result != nil {
		text = "The recording, and in its gaps, which are shaded, the mean of the fill with its 95 % interval."
	}
	charts := p.waves("Waveform", text, 0, p.Samples, audio.Gap{}, true)
	return section{Title: "The recording", Play: "the whole recording", Charts: append(charts, p.spectrograms(0, p.Samples, 600, 0.025)...)}
}

// leastSure orders gaps by expected error, the largest first, and what was only found by log-odds, the largest first.
func leastSure(a, b *gap) int {
	return cmp.Or(cmp.Compare(b.relative, a.relative), cmp.Compare(b.found.LogOdds, a.found.LogOdds))
}

// expectedError returns the rms of a fill's standard deviations in the channel where it is largest, and the same relative to the rms of the
// known samples around.
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

// list returns the table of the gaps, those to look at first on top.
func (p *embedded) list() section {
	if len(p.listed) == 0 {
		return section{}
	}
	t := Table{Caption: "All gaps", Words: true, Gaps: map[int]int{},
		Head: []string{"gap", "log-odds", "time", "length, ms", "channel", "kind", "why not to trust it"}}
	if len(p.listed) < len(p.gaps) {
		t.Caption = fmt.Sprintf("The first %d of %d gaps", len(p.listed), len(p.gaps))
	}
	if p.Result == nil {
		t.Caption += ", the surest first."
	} else {
		t.Caption += ", the least sure first. The expected error is relative to the level of the sound around."
		t.Head[1] = "expected error, %"
	}
	t.Caption += " A gap's name selects it in the player."
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

// dropEmpty removes the columns without an entry.
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

// find looks up what was found at a filled gap, which may join several finds.
func (p *embedded) find(g *gap) {
	for i := 0; i < len(p.Found) && g.found.Kind == "" && p.Found[i].Start < g.End; i++ {
		if f := p.Found[i]; f.End > g.Start && (f.Channel == g.Channel || f.Channel == 0 || g.Channel == 0) {
			g.found = f
		}
	}
}

// warning returns why a fill should not be trusted, by channel; empty if nothing is known against it.
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

// details returns the gaps that have charts, in the order of the list.
func (p *embedded) details() section {
	s := section{Title: "Gaps"}
	if p.charted > mostSpectrograms {
		s.Text = []string{fmt.Sprintf("The first %d have spectrograms, to keep the page small.", mostSpectrograms)}
	}
	text := "The mean with its 95 % interval."
	if p.Result == nil {
		text = "The recording as given; what was found is shaded."
	}
	for _, g := range p.listed {
		if !g.charted {
			continue
		}
		name, side := fmt.Sprintf("gap %d", g.number), max(3*g.Len()/2, 8)
		charts := p.waves("Waveform of "+name, text, max(g.lo, g.Start-side), min(g.hi, g.End+side+1), g.Gap, p.Result == nil)
		if len(s.Details) < mostSpectrograms {
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

// about describes a gap in words.
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
	text += fmt.Sprintf("Expected error %s %% of the level around, %s of full scale.", percent(g.relative), short(g.sd))
	if warning := p.warning(g); warning != "" {
		text += " Do not trust it: " + warning + "."
	}
	if g.reference != nil {
		var mean []float64
		for _, f := range g.fills {
			mean = append(mean, f.Mean...)
		}
		reference := slices.Concat(g.reference...)
		text += fmt.Sprintf(" RMSE against the reference %s, of silence %s.", short(bayes.RMSE(mean, reference)), short(bayes.RMS(reference)))
	}
	return text
}

// milliseconds writes the length of a gap.
func (p *embedded) milliseconds(g audio.Gap) string {
	return fmt.Sprintf("%.4g", 1000*float64(g.Len())/float64(p.Rate))
}

// percent writes a share for people, a dash if it is not known.
func percent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.0f", 100*v)
}

// clock writes the time of a sample, in minutes from one minute on.
func clock(sample, rate int) string {
	s := float64(sample) / float64(rate)
	if s < 60 {
		return fmt.Sprintf("%.3f s", s)
	}
	return fmt.Sprintf("%d:%06.3f min", int(s)/60, math.Mod(s, 60))
}
