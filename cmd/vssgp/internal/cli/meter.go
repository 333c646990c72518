package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio/restore"
)

const (
	meterWidth = 110 // of the line at most; a terminal may be narrower
	meterEvery = 100 * time.Millisecond
)

// Meter shows how far a computation is, on one line of stderr; nil shows nothing.
type Meter struct {
	bar  *pb.ProgressBar
	next time.Time // when it may be drawn again
}

// NewMeter returns a meter if --progress and --quiet allow one, else nil.
func (env *Env) NewMeter() *Meter {
	if env.Progress != "always" && (env.Progress != "auto" || env.Quiet || !isTerminal(env.Stderr)) {
		return nil
	}
	// Static: only draw writes it, on the goroutine that reports progress.
	line := pb.ProgressBarTemplate(`{{string . "what"}} {{bar . "[" "=" ">" " " "]"}} {{counters .}} {{string . "rest"}}`)
	bar := line.New(1).SetMaxWidth(meterWidth).SetWriter(env.Stderr).
		Set(pb.Static, true).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set(pb.CleanOnFinish, true)
	env.meter = &Meter{bar: bar}
	return env.meter
}

func isTerminal(w io.Writer) bool {
	if s, ok := w.(*stream); ok {
		w = s.to
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Progress shows how far a fit is: the bound, the noise's standard deviation and the time
// left.
func (m *Meter) Progress(p vssgp.Progress) {
	what := p.Stage
	if p.Starts > 1 {
		what = fmt.Sprintf("start %d/%d, %s", p.Start, p.Starts, p.Stage)
	}
	m.Draw(what, p.Iteration, p.Iterations, fmt.Sprintf("bound %.6g noise %.3g left %v", p.Bound, p.NoiseSD, p.Left.Round(time.Second)))
}

// Fitting shows how far a fill is whose excerpts are fitted one by one.
func (m *Meter) Fitting(p restore.Progress) {
	done, of := p.Iteration, p.Iterations
	if of == 0 { // nothing is iterated: count excerpts
		done, of = p.Excerpt, p.Excerpts
	}
	m.Progress(vssgp.Progress{
		Stage: fmt.Sprintf("excerpt %d/%d", p.Excerpt, p.Excerpts), Iteration: done, Iterations: of, Bound: p.Bound, NoiseSD: p.NoiseSD,
		Left: p.Left,
	})
}

// Filling shows how many gaps are filled, and the time left.
func (m *Meter) Filling(what string, p restore.Progress) {
	m.Draw(what, p.Excerpt, p.Excerpts, "left "+p.Left.Round(time.Second).String())
}

// ShowRows shows how many rows are done since the work began, and the time left.
func (m *Meter) ShowRows(what string, done, of int, began time.Time) {
	left := time.Duration(float64(time.Since(began)) * float64(of-done) / float64(max(1, done)))
	m.Draw(what, done, of, "left "+left.Round(time.Second).String())
}

// Draw shows how much of the work is done, and the rest of the line.
func (m *Meter) Draw(what string, done, of int, rest string) {
	if m == nil || of < 1 || time.Now().Before(m.next) {
		return
	}
	m.next = time.Now().Add(meterEvery)
	m.bar.Set("what", what).Set("rest", rest)
	m.bar.SetTotal(int64(of)).SetCurrent(int64(done)).Write()
}

// Clear removes the line.
func (m *Meter) Clear() {
	if m != nil && !m.next.IsZero() {
		m.bar.Finish().Write().Start() // a finished bar draws blanks
		m.next = time.Time{}
	}
}

// Busy shows the current work on a terminal, until done is called.
func (env *Env) Busy(format string, args ...any) (done func()) {
	if env.NewMeter() == nil {
		return func() {}
	}
	text := fmt.Sprintf(format, args...) + "…"
	fmt.Fprint(env.Stderr, "\r"+text)
	return func() { fmt.Fprint(env.Stderr, "\r"+strings.Repeat(" ", len(text))+"\r") }
}
