package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/vssgp/vssgp/internal/bayes"
)

// list returns the table of the gaps, those to look at first on top.
func (p *embedded) list() []part {
	if len(p.listed) == 0 {
		return nil
	}
	l := gapList{Caption: "All gaps", Order: "Surest first", Head: []string{"log-odds", "time", "length, ms"}}
	kinds := slices.ContainsFunc(p.listed, func(s listedGap) bool { return s.found.Kind != "" })
	if p.Channels > 1 {
		l.Head = append(l.Head, "channel")
	}
	if kinds {
		l.Head = append(l.Head, "kind")
	}
	why := ""
	if p.Result != nil {
		l.Order, why = "Least sure first", "why not to trust it"
		l.Text = "The expected error is relative to the level of the sound around."
		l.Head[0] = "expected error, %"
	}
	l.Head = append(l.Head, why)
	if len(p.listed) < len(p.gaps) {
		l.Caption = fmt.Sprintf("The first %d of %d gaps", len(p.listed), len(p.gaps))
	}
	for _, s := range p.listed {
		first := percent(s.expected)
		if p.Result == nil {
			first = short(cmp.Or(s.found.LogOdds, math.NaN()))
		}
		row := gapRow{
			Gap: s.number, Start: s.Start, Label: fmt.Sprintf("Gap %d", s.number), Held: p.held[s.Gap], Shown: s.shown, Why: s.doubt,
			Cells: []string{first, clock(s.Start, p.Rate), fmt.Sprintf("%.4g", 1000*float64(s.Len())/float64(p.Rate))},
		}
		if p.Channels > 1 {
			channel := "all"
			if s.Channel > 0 {
				channel = strconv.Itoa(s.Channel)
			}
			row.Cells = append(row.Cells, channel)
		}
		if kinds {
			row.Cells = append(row.Cells, string(s.found.Kind))
		}
		l.Rows = append(l.Rows, row)
	}
	return []part{l}
}

// percent writes a share for people, a dash if it is not known.
func percent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.0f", 100*v)
}

// about describes a gap in words.
func (p *embedded) about(s listedGap) (string, error) {
	var text string
	if s.found.Kind != "" {
		text = "Found: " + string(s.found.Kind)
		if s.found.LogOdds != 0 {
			text += fmt.Sprintf(", confidence %.0f %%", 100*s.found.Confidence())
		}
		text += ". "
	}
	if p.Result == nil {
		return text, nil
	}
	text += fmt.Sprintf("Expected error %s %% of the level around, %s of full scale.", percent(s.expected), short(s.sd))
	if s.doubt != "" {
		text += " Do not trust it: " + s.doubt + "."
	}
	fills := p.fillings(s.Gap)
	if p.Reference == nil || fills == nil {
		return text, nil
	}
	truth, err := p.truth(s.Gap)
	if err != nil {
		return "", err
	}
	var mean []float64
	for _, f := range fills {
		mean = append(mean, f.Mean...)
	}
	all := slices.Concat(truth...)
	return text + fmt.Sprintf(" RMSE against the reference %s, of silence %s.", short(bayes.RMSE(mean, all)), short(bayes.RMS(all))), nil
}

// sections returns the gaps that are drawn, each with its charts and spectrograms, in the order of the list.
func (p *embedded) sections() ([]part, error) {
	var out []part
	if p.shown > mostGapPictures {
		out = append(out, paragraph(fmt.Sprintf("The first %d have spectrograms, to keep the page small.", mostGapPictures)))
	}
	i := 0
	for _, s := range p.listed {
		if !s.shown {
			continue
		}
		text, err := p.about(s)
		if err != nil {
			return nil, err
		}
		name, side := fmt.Sprintf("gap %d", s.number), max(3*s.Len()/2, 8)
		what := "The mean with its 95 % band."
		if p.Result == nil {
			what = "The recording as it is; what was found is shaded."
		}
		waves, err := p.waves("Waveform of "+name, what, max(s.lo, s.Start-side), min(s.hi, s.End+side+1), p.lanes(s.Gap), p.Result == nil)
		if err != nil {
			return nil, err
		}
		parts := append([]part{play{s.number, name}, paragraph(text)}, waves...)
		if i < mostGapPictures {
			pictures, err := p.spectrograms(s.lo, s.hi, gapColumns, gapFrame, true)
			if err != nil {
				return nil, err
			}
			parts = append(parts, pictures...)
		}
		out = append(out, group{ID: fmt.Sprintf("gap%d", s.number), Title: p.title(s), Open: i < openGaps, Parts: parts})
		i++
	}
	return out, nil
}

// title names a gap with its length and place.
func (p *embedded) title(s listedGap) string {
	text := fmt.Sprintf("Gap %d: %.4g ms at %s, samples %d to %d",
		s.number, 1000*float64(s.Len())/float64(p.Rate), clock(s.Start, p.Rate), s.Start, s.End)
	if s.Channel > 0 {
		text += fmt.Sprintf(", channel %d", s.Channel)
	}
	return text
}
