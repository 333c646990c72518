package vssgp

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit/cputime"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// looks is a context that counts how often it is looked at, and notes the longest
// processor time from one look to the next. It ends at look number end, if that is not 0.
type looks struct {
	context.Context
	mu      sync.Mutex
	n, end  int
	last    time.Duration
	longest time.Duration
}

func (l *looks) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	now := cputime.Now()
	l.longest = max(l.longest, now-l.last)
	l.last = now
	if l.end > 0 && l.n >= l.end {
		return context.Canceled
	}
	return nil
}

// TestStartCanceled: a start looks at its context all the way, and wherever it
// ends there is no model. From one look to the next is less than a quarter of all the
// processor time that the start takes, whatever that is here; each case's stage,
// which makes one of a quick start, would by itself be more. One that garbage
// collection holds up is tried again: a stage that does not look is long each time.
// On two processors, whatever there are: many do a short stage at a stroke.
func TestStartCanceled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	many := dataOf(modeltest.Tones(1<<10, 0)) // uneven rows of many tones, which take several rounds
	for i := range many.X {
		many.X[i] += 0.4 * math.Sin(float64(i*i))
		for k := range 30 {
			many.Y[i] += math.Pow(0.8, float64(k)) * math.Sin(0.09*float64(k+1)*many.X[i])
		}
	}
	for name, c := range map[string]struct {
		data *Data
		o    Options
	}{
		"fill":                   {dataOf(modeltest.Tones(1<<12, 0.4)), Options{Windows: WindowOptions{Length: WindowNone}}},
		"fill of what is hidden": {dataOf(modeltest.Tones(1<<11, 0.4)), Options{Windows: WindowOptions{Length: WindowNone}, Iterations: NoIterations}},
		"spectra":                {dataOf(modeltest.Tones(1<<14, 0)), Options{Windows: WindowOptions{Length: 512}}},
		"uneven rows":            {many, Options{Windows: WindowOptions{Length: WindowNone}}},
		"uneven windows":         {many, Options{Windows: WindowOptions{Length: 128}}},
	} {
		c.o.Inference = Stochastic
		start := func(end int) (l *looks, share float64, err error) {
			began := cputime.Now()
			l = &looks{Context: t.Context(), end: end, last: began}
			f, err := c.o.problem(c.data)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = f.initialize(l, f.init, 0)
			l.longest = max(l.longest, cputime.Now()-l.last)
			return l, float64(l.longest) / float64(cputime.Now()-began), err
		}
		least, all := 1.0, 0
		for try := 0; try < 10 && least >= 0.25; try++ {
			l, share, err := start(0)
			if err != nil {
				t.Fatal(err)
			}
			least, all = min(least, share), l.n
		}
		if least >= 0.25 {
			t.Errorf("%s: for %.2f of the time it does not look at its context", name, least)
		}
		for _, end := range []int{1, 2, all / 2, all} {
			if l, _, err := start(end); !errors.Is(err, context.Canceled) || end == 1 && l.n > 3 { // the error looks, too
				t.Errorf("%s, ended at look %d of %d: error %v after %d looks, want the context's, and no start where it has ended before", name, end, all, err, l.n)
			}
		}
	}
}

// TestStochasticOfMany: a stochastic fit of more rows than its mean starts from.
func TestStochasticOfMany(t *testing.T) {
	d := dataOf(modeltest.Tones(1<<16+100, 0))
	m, _ := mustFit(t, d, Options{Windows: WindowOptions{Length: WindowNone}, Components: 2, Inference: Stochastic, Iterations: 2})
	if !m.Fitted() {
		t.Error("no posterior")
	}
}
