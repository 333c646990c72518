package report

import (
	"fmt"

	"github.com/vssgp/vssgp"
)

// reaches are roughly the ranges of the data along each input: the ranges of the
// model's inducing inputs.
func reaches(m *vssgp.Model) []float64 {
	var at []float64
	for _, f := range m.Frequencies() {
		at = append(at, f.Location...)
	}
	return ranges(at, m.Params.Q)
}

// Info reports on the model in the file called name.
func Info(name string, m *vssgp.Model) *Document {
	d := &Document{Title: "Model " + name}
	d.Lead = []string{fmt.Sprintf("%s inference, %s, %s, %s.",
		m.Inference, Counted(m.Params.L, "component"), Counted(m.Params.M(), "feature"), Counted(max(1, len(m.Params.Windows.Center)), "window"))}
	d.Lead = append(d.Lead, tooMany(m)...)
	learnt := spectra(m, reaches(m))
	if learnt == nil {
		learnt = []part{paragraph("The model has no posterior over its coefficients yet, so its features have no amplitude.")}
	}
	d.add("Frequencies", learnt...)
	d.add("Covariance", densities(m)...)
	return d
}
