package report

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/table"
)

func write(t *testing.T, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// filled is the report of the first second and a quarter of the speech.
var filled = sync.OnceValues(func() ([]byte, error) {
	cut, err := audio.Open("../../testdata/speech_gapped.wav")
	if err != nil {
		return nil, err
	}
	clean, err := audio.Open("../../testdata/speech.wav")
	if err != nil {
		return nil, err
	}
	const n = 20000
	gaps := []restore.Gap{{Start: 3200, End: 3280}, {Start: 4950, End: 5110}, {Start: 8200, End: 8280}, {Start: 17700, End: 17780}}
	r, density := (*restore.Result)(nil), NewDensities(cut.Rate)
	input, reference := source{cut.Samples[0][:n]}, source{clean.Samples[0][:n]}
	o := restore.Options{Forget: true, Fitted: density.Add, Model: vssgp.Options{Components: 12, Windows: vssgp.WindowOptions{Length: 0.032}}}
	if r, err = restore.FillFrom(context.Background(), input, n, cut.Rate, gaps, o); err != nil {
		return nil, err
	}
	d, err := Impute(&Fill{
		Name: hostile, Output: "filled.wav", Samples: n, Rate: cut.Rate, Channels: 1, Gaps: gaps, Result: r, Method: "vssgp",
		Input: input, Reference: reference, Density: density, Settings: []Setting{{"--gaps", hostile}},
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = d.Write(&b, HTML)
	return b.Bytes(), err
})

// hostile is a text that must come to nothing wherever a page has it.
const hostile = `</script></style><script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}}` + "\xff\u2028&amp;.wav"

type source [][]float64

func (s source) Read(lo, hi int) ([][]float64, error) {
	var out [][]float64
	for _, c := range s {
		out = append(out, append([]float64(nil), c[lo:hi]...))
	}
	return out, nil
}

func filledPage(t *testing.T) []byte {
	t.Helper()
	page, err := filled()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// fittedPage is the report of a fit of the carbon dioxide of Mauna Loa.
func fittedPage(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := fittedDocument(t).Write(&b, HTML); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fittedDocument(t *testing.T) *Document {
	t.Helper()
	c, err := table.Open("../../testdata/co2_monthly.csv")
	if err != nil {
		t.Fatal(err)
	}
	data := &vssgp.Data{N: c.Rows, Q: 1, D: 1, XNames: c.Names[:1], YNames: c.Names[1:]}
	for n := range c.Rows {
		data.X, data.Y = append(data.X, c.Data[2*n]), append(data.Y, c.Data[2*n+1])
	}
	trace := &Trace{}
	m, r, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 10, Features: 2, Iterations: 30, Progress: trace.Add})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Fit("co2_monthly.csv", m, r, data, trace, []Setting{{"--seed", "0"}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
