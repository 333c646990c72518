package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"

	"github.com/vssgp/vssgp"
)

const (
	// meterWidth bounds the line; a terminal may be narrower.
	meterWidth = 110
	// meterEvery is the least time between two drawings.
	meterEvery = 100 * time.Millisecond
)

// meterTemplate is the line: what, how far, and the rest.
const meterTemplate = `{{string . "what"}} {{bar . "[" "=" ">" " " "]"}} {{counters .}} {{string . "rest"}}`

// meter shows how far a computation is, on one line of stderr; nil shows
// nothing.
type meter struct {
	bar  *pb.ProgressBar
	next time.Time // no drawing before
}

// newMeter is a meter where --progress and --quiet allow one.
func (a *app) newMeter() *meter {
	show := a.progress == "always" || a.progress == "auto" && !a.quiet && isTerminal(a.stderr)
	if !show {
		return nil
	}
	// Static: drawn by show alone, on the goroutine that has something to say.
	bar := pb.ProgressBarTemplate(meterTemplate).New(1).SetMaxWidth(meterWidth).SetWriter(a.stderr).
		Set(pb.Static, true).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set(pb.CleanOnFinish, true)
	return &meter{bar: bar}
}

func isTerminal(w io.Writer) bool {
	if s, ok := w.(*stream); ok {
		w = s.to
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// show draws the line anew: what is done, how far, the bound, the noise's
// standard deviation and the time left.
func (m *meter) show(what string, done, of int, bound, noise float64, left time.Duration) {
	m.draw(what, done, of, fmt.Sprintf("bound %.6g noise %.3g left %v", bound, noise, left.Round(time.Second)))
}

// progress shows how far a fit is.
func (m *meter) progress(p vssgp.Progress) {
	what := p.Stage
	if p.Starts > 1 {
		what = fmt.Sprintf("start %d/%d, %s", p.Start, p.Starts, p.Stage)
	}
	m.show(what, p.Iteration, p.Iterations, p.Bound, p.NoiseSD, p.Left)
}

// showRows draws the line anew: what is done with how many rows since it began,
// and the time left.
func (m *meter) showRows(what string, done, of int, began time.Time) {
	left := time.Duration(float64(time.Since(began)) * float64(of-done) / float64(max(1, done)))
	m.draw(what, done, of, "left "+left.Round(time.Second).String())
}

func (m *meter) draw(what string, done, of int, rest string) {
	if m == nil || of < 1 || time.Now().Before(m.next) {
		return
	}
	m.next = time.Now().Add(meterEvery)
	m.bar.Set("what", what).Set("rest", rest)
	m.bar.SetTotal(int64(of)).SetCurrent(int64(done)).Write()
}

// clear takes the line away.
func (m *meter) clear() {
	if m != nil && !m.next.IsZero() {
		m.bar.Finish().Write()
		m.next = time.Time{}
	}
}
