package report

// Impute reports on a filled recording.
func Impute(f *Fill) (*Document, error) {
	p, err := newEmbedded(f)
	if err != nil {
		return nil, err
	}
	d := &Document{Title: "Filled: " + f.Name, Recording: p.recording}
	d.Lead = append([]string{f.summary()}, p.limits()...)
	whole, err := p.whole()
	if err != nil {
		return nil, err
	}
	d.add("The recording", whole...)
	if f.Scores != nil {
		d.add("Scores", *f.Scores, paragraph("RMSE in full scale; test: over the gaps, train: over the observed samples of the excerpts. "+
			"STFT: the same of the short-time Fourier transform. Linear and autoregressive fills reproduce what is observed."))
	}
	gaps, err := p.groups()
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
