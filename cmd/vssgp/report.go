package main

import (
	"fmt"
	"html/template"
	"image/color"
	"io"

	"github.com/vssgp/vssgp/impute"
)

// report is the page of --report: everything it shows is in the page itself.
type report struct {
	Input    string
	Result   imputeResult
	Settings []setting
	Scores   []namedScore
	Gaps     []gapView
	Left     int // gaps that are not drawn
}

type setting struct{ Name, Value string }

type gapView struct {
	Title string
	SVG   template.HTML
}

// Key names the colours of the plots.
func (p *report) Key() []keyed {
	key := []keyed{{"recording", hex(inkObserved)}, {"mean", hex(inkMean)}, {"mean ± 2 sd", hex(inkBand)}}
	if p.Scores != nil {
		key = append(key, keyed{"reference", hex(inkReference)})
	}
	return key
}

type keyed struct {
	Name string
	Ink  template.CSS
}

// hex is a colour as style sheets write it.
func hex(c color.RGBA) template.CSS {
	return template.CSS(fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B))
}

// reportGaps is how many gaps a report draws.
const reportGaps = 60

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"g": func(v number) string { return short(v) },
}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>vssgp impute: {{.Input}}</title>
<style>
body { font: 15px/1.5 "Liberation Sans", Arial, sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: .2em .8em; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; }
.key span { margin-right: 1.5em; border-bottom: 3px solid; }
h3 { font-size: 1em; margin: 1.5em 0 0; }
</style>
</head>
<body>
<h1>{{.Input}}</h1>
<p>{{len .Result.Gaps}} gaps filled, {{.Result.Missing}} samples at {{.Result.Rate}} Hz.</p>
{{with .Scores}}<h2>Scores</h2>
<table>
<tr><th></th><th>test RMSE</th><th>train RMSE</th><th>test STFT RMSE</th><th>train STFT RMSE</th><th>95 % coverage</th></tr>
{{range .}}<tr><td>{{.Name}}</td><td>{{g .TestRMSE}}</td><td>{{g .TrainRMSE}}</td><td>{{g .TestSTFT}}</td><td>{{g .TrainSTFT}}</td><td>{{with .Coverage}}{{g .}}{{end}}</td></tr>
{{end}}</table>
{{end}}<h2>Settings</h2>
<table>
{{range .Settings}}<tr><td>{{.Name}}</td><td>{{.Value}}</td></tr>
{{end}}</table>
<h2>Gaps</h2>
<p class="key">{{range .Key}}<span style="border-color: {{.Ink}}">{{.Name}}</span>{{end}}</p>
{{range .Gaps}}<h3>{{.Title}}</h3>
{{.SVG}}
{{end}}{{if .Left}}<p>{{.Left}} more are not drawn.</p>
{{end}}</body>
</html>
`))

// newReport draws the gaps of a result, every channel. observed is the recording
// with its gaps empty; reference may be nil.
func newReport(input string, out imputeResult, settings []setting, r *impute.Result, observed, reference impute.Source) (*report, error) {
	p := &report{Input: input, Result: out, Settings: settings, Scores: out.Scores}
	for c := range out.Channels {
		number := 0
		for i := range r.Excerpts {
			e := &r.Excerpts[i]
			for _, gap := range e.Gaps {
				number++
				if len(p.Gaps) == reportGaps {
					p.Left++
					continue
				}
				curves, err := newGapCurves(e, gap, c, out, observed, reference)
				if err != nil {
					return nil, err
				}
				drawn, err := curves.svg()
				if err != nil {
					return nil, err
				}
				title := fmt.Sprintf("Gap %d: samples %d to %d, %.4g s", number, gap.Start, gap.End, float64(gap.Start)/float64(out.Rate))
				if out.Channels > 1 {
					title += fmt.Sprintf(", channel %d", c)
				}
				// The drawing is our own: no text in it comes from a file.
				p.Gaps = append(p.Gaps, gapView{title, template.HTML(drawn)})
			}
		}
	}
	return p, nil
}

func (p *report) write(w io.Writer) error {
	if err := page.Execute(w, p); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
