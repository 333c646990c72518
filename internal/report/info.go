package report

import (
	"fmt"

	"github.com/vssgp/vssgp"
)

// Info reports on the model in the file called name.
func Info(name string, m *vssgp.Model) *Document {
	d := &Document{Title: "Model " + name}
	d.Lead = []string{fmt.Sprintf("%s inference, %s, %s, %s.",
		m.Inference, Counted(m.Params.L, "component"), Counted(m.Params.M(), "feature"), Counted(max(1, len(m.Params.Windows.Center)), "window"))}
	d.Lead = append(d.Lead, tooMany(m)...)
	var places []float64 // of the inducing inputs, whose ranges are roughly those of the data
	for _, f := range m.Frequencies() {
		places = append(places, f.Location...)
	}
	learnt := spectra(m, ranges(places, m.Params.Q))
	if learnt == nil {
		learnt = []part{paragraph("The model has no posterior over its coefficients yet, so its features have no amplitude.")}
	}
	d.add("Frequencies", learnt...)
	d.add("Covariance", densities(m)...)
	return d
}
