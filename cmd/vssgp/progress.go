package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// meter shows how far a computation is, on one line of stderr; nil shows
// nothing.
type meter struct{ bar *progressbar.ProgressBar }

// newMeter is a meter where --progress and --quiet allow one.
func (a *app) newMeter() *meter {
	show := a.progress.value == "always" || a.progress.value == "auto" && !a.quiet && isTerminal(a.stderr)
	if !show {
		return nil
	}
	return &meter{progressbar.NewOptions(1,
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetWidth(16),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(false), // the library's own estimate, over all starts, is shown instead
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetRenderBlankState(false),
	)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// show draws the line anew: what is done, how far, the bound, the noise's
// standard deviation and the time left.
func (m *meter) show(what string, done, of int, bound, noise float64, left time.Duration) {
	if m == nil || of < 1 {
		return
	}
	m.bar.Describe(fmt.Sprintf("%s  bound %.6g  noise %.3g  left %v", what, bound, noise, left.Round(time.Second)))
	m.bar.ChangeMax(of)
	// A bar that is full ends itself; the last step stays open until clear.
	_ = m.bar.Set(min(done, of-1)) // it fails only past the maximum
}

// clear takes the line away.
func (m *meter) clear() {
	if m != nil {
		_ = m.bar.Clear() // a terminal that is gone needs no clearing
	}
}
