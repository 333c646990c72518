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
	progressWidth = 110 // maximum length of the line; a terminal may be narrower
	progressSteps = 1000
	progressEvery = 100 * time.Millisecond
)

// progress is the progress line on stderr.
type progress struct {
	mu    sync.Mutex
	bar   *pb.ProgressBar // nil if nothing is shown
	share float64         // completed part of the current task
	began time.Time       // when the current task began
	next  time.Time       // earliest time of the next redraw
}

// ShowProgress shows the completed share of a task and the remaining time on one line of stderr, unless --progress or --quiet disables
// it. A share that is smaller than the last one begins a new task.
func (env *Env) ShowProgress(share float64, format string, args ...any) {
	if env.Progress != "always" && (env.Progress != "auto" || env.Quiet || !isTerminal(env.Stderr)) {
		return
	}
	p, now := &env.progress, time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		// Static: only Write draws the bar, on the goroutine that reports progress.
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

// ClearProgress removes the progress line.
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

// ShowFit shows the progress of a fit, with its bound and noise.
func (env *Env) ShowFit(what string, p vssgp.Progress) {
	if p.Starts > 1 {
		what = fmt.Sprintf("%s, restart %d/%d", what, p.Start, p.Starts)
	}
	share := (float64(max(p.Start, 1)-1) + float64(p.Iteration)/float64(max(1, p.Iterations))) / float64(max(1, p.Starts))
	env.ShowProgress(share, "%s, bound %.6g, noise %.3g", what, p.Bound, p.NoiseSD)
}
