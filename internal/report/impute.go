package report

import (
	"fmt"

	"github.com/vssgp/vssgp/audio"
)

// Impute reports on a filled recording, or without a Result on what was found in one.
func Impute(f *Fill) (*Document, error) {
	p, err := newEmbedded(f)
	if err != nil {
		return nil, err
	}
	d := &Document{Title: "Found: " + f.Name, Recording: &p.recording}
	size := fmt.Sprintf("%d of %d samples, %s, %d Hz, %s",
		audio.Missing(p.gaps), f.Samples, clock(f.Samples, f.Rate), f.Rate, Counted(f.Channels, "channel"))
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
	whole, err := p.whole()
	if err != nil {
		return nil, err
	}
	d.add("The recording", whole...)
	if f.Found != nil || f.Result == nil {
		d.add("What was found", f.found()...)
	}
	if f.Scores != nil {
		d.add("Scores", *f.Scores, paragraph("RMSE in full scale; test: over the gaps, train: over the observed samples of the excerpts. "+
			"STFT: the same of the short-time Fourier transform. A fill without a model of the observed samples reproduces them."))
	}
	d.add("List of gaps", p.list()...)
	gaps, err := p.sections()
	if err != nil {
		return nil, err
	}
	d.add("Gaps", gaps...)
	if density := f.Density.mean(); density != nil {
		d.add("Learnt spectrum", densityChart(density, float64(f.Rate)/2,
			"Learnt power spectrum, mean over the excerpts", seconds, "full scale"))
	}
	d.addSettings(f.Settings)
	return d, nil
}

// whole returns the waveforms and spectrograms of the first clip.
func (p *embedded) whole() ([]part, error) {
	if p.end == 0 {
		return []part{paragraph("The recording begins with a gap longer than a page bears.")}, nil
	}
	what := "the whole recording"
	if p.end < p.Samples {
		what = "the first " + clock(p.end, p.Rate)
	}
	text := "The recording as it is; what was found is shaded."
	if p.Result != nil {
		text = fmt.Sprintf("The recording, and in its %s the mean of the fill with the band that holds 95 %% of what may have been there; "+
			"gaps are shaded.", Counted(len(p.within(0, p.end)), "gap"))
	}
	waves, err := p.waves("Waveform", text, 0, p.end, p.lanes(audio.Gap{}), true)
	if err != nil {
		return nil, err
	}
	parts := append([]part{play{0, what}}, waves...)
	pictures, err := p.spectrograms(0, p.end, wholeColumns, wholeFrame, false)
	return append(parts, pictures...), err
}
