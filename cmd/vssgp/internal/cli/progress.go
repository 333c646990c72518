package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"

	"github.com/vssgp/vssgp"
)

const (
	progressWidth = 110 // of the line at most; a terminal may be narrower
	progressSteps = 1000
	progressEvery = 100 * time.Millisecond
)

// progress is the line on stderr that shows how much of the work is done.
type progress struct {
	mu    sync.Mutex
	bar   *pb.ProgressBar // nil: nothing is shown
	share float64
	began time.Time // of the work of which share is done
	next  time.Time // when it may be drawn again
}

// ShowProgress shows which share of some work is done, and the time left, on one line of stderr, if --progress and --quiet allow that. A
// share that is less than before is of other work.
func (env *Env) ShowProgress(share float64, format string, args ...any) {
	if env.Progress != "always" && (env.Progress != "auto" || env.Quiet || !isTerminal(env.Stderr)) {
		return
	}
	p, now := &env.progress, time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		// Static: only Write draws it, on the goroutine that reports progress.
		line := pb.ProgressBarTemplate(`{{string . "what"}} {{bar . "[" "=" ">" " " "]"}} {{string . "left"}}`)
		p.bar = line.New(progressSteps).SetMaxWidth(progressWidth).SetWriter(env.Stderr).
			Set(pb.Static, true).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set(pb.CleanOnFinish, true)
		p.share = 2
	}
	if share < p.share {
		p.began, p.next = now, time.Time{}
	}
	if p.share = share; now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	left := fmt.Sprintf("%.0f%%", 100*share)
	if past := now.Sub(p.began); share > 0 && past > time.Second {
		left += fmt.Sprintf(", %v left", time.Duration(float64(past)*(1-share)/share).Round(time.Second))
	}
	p.bar.Set("what", fmt.Sprintf(format, args...)).Set("left", left).SetCurrent(int64(share * progressSteps)).Write()
}

// ClearProgress removes the line.
func (env *Env) ClearProgress() {
	p := &env.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Finish().Write() // a finished bar draws blanks
		p.bar = nil
	}
}

func isTerminal(w io.Writer) bool {
	if s, ok := w.(*stream); ok {
		w = s.to
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// ShowFit shows the progress of a fit.
func (env *Env) ShowFit(what string, p vssgp.Progress) {
	if p.Starts > 1 {
		what = fmt.Sprintf("%s, start %d/%d", what, p.Start, p.Starts)
	}
	share := (float64(max(p.Start, 1)-1) + float64(p.Iteration)/float64(max(1, p.Iterations))) / float64(max(1, p.Starts))
	env.ShowProgress(share, "%s, bound %.6g, noise %.3g", what, p.Bound, p.NoiseSD)
}
