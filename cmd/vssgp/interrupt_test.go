package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
)

// interrupter is a stderr that interrupts at the first sign of progress.
type interrupter struct {
	mu        sync.Mutex
	text      bytes.Buffer
	interrupt func()
}

func (i *interrupter) Write(b []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if bytes.Contains(b, []byte("bound")) || bytes.Contains(b, []byte("gaps [")) {
		i.interrupt()
	}
	return i.text.Write(b)
}

// lastLine is what remains on stderr once the progress line is gone.
func (i *interrupter) lastLine() string {
	text := i.text.String()
	return text[strings.LastIndex(text, "\r")+1:]
}

// interrupted runs a command that is interrupted once its work has begun, by
// the signal itself.
func interrupted(t *testing.T, args ...string) (outcome, string) {
	t.Helper()
	ctx, stop := untilSignal(context.Background())
	defer stop()
	var stdout bytes.Buffer
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	stderr := &interrupter{interrupt: func() {
		once.Do(func() {
			if err := self.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
		})
	}}
	code := run(ctx, append(args, "--progress", "always"), &stdout, stderr, nil)
	return outcome{code, stdout.String(), stderr.text.String()}, stderr.lastLine()
}

func TestFitInterrupted(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(120))
	model, part := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "m.part")
	o, line := interrupted(t, "fit", data, "--y", "y1,y2", "-o", model, "--checkpoint", part, "--restarts", "1000", "--json")
	if o.code != cli.ExitInterrupted {
		t.Fatalf("exit %d, want %d: %s", o.code, cli.ExitInterrupted, o.stderr)
	}
	for _, word := range []string{cli.Prefix + "interrupted", "--resume", part, model} {
		if !strings.Contains(line, word) {
			t.Errorf("stderr ends %q, want it to name %q", line, word)
		}
	}
	if r := decode[fitPrinted](t, o.stdout); !r.Interrupted || r.Model != model {
		t.Errorf("result %+v, want an interrupted one with its model", r)
	}
	succeed(t, "predict", model, data, "--x", "t", "-o", "-") // a whole model with its posterior
	succeed(t, "evaluate", part, data, "--json")              // a model too
	before := decode[printed](t, succeed(t, "evaluate", model, data, "--json").stdout).Bound
	o, _ = interrupted(t, "fit", data, "--y", "y1,y2", "-o", model, "--checkpoint", part, "--restarts", "1000", "--json", "--resume")
	r := decode[fitPrinted](t, o.stdout)
	if o.code != cli.ExitInterrupted || r.Resumed == nil || *r.Resumed < 1 || !(r.Bound >= before) {
		t.Errorf("resumed from a bound of %v: exit %d, %+v; want it no lower", before, o.code, r)
	}
	refused := vssgpRun(t, "fit", data, "--y", "y1,y2", "-o", model, "--checkpoint", part, "--restarts", "999", "--resume")
	if refused.code != cli.ExitMistake || !strings.Contains(refused.stderr, "restarts") {
		t.Errorf("other options: exit %d, %s; want %d and what differs", refused.code, refused.stderr, cli.ExitMistake)
	}
	if files := listing(t, dir); len(files) != 4 { // the folder, data, model, checkpoint
		t.Errorf("left %v", files)
	}
}

// TestReadingInterrupted: a signal while the data are read ends fit with its code
// and a line, and leaves nothing.
func TestReadingInterrupted(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(120))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"fit", data, "-o", filepath.Join(dir, "m.safetensors")}, &stdout, &stderr, nil)
	if code != cli.ExitInterrupted || !strings.Contains(stderr.String(), "interrupted while reading "+data) || len(listing(t, dir)) != 2 {
		t.Errorf("exit %d, %s, left %v", code, &stderr, listing(t, dir))
	}
}

// TestTableOnItsSide: a row of columns for each row of a table is the user's
// mistake, said at once.
func TestTableOnItsSide(t *testing.T) {
	dir := t.TempDir()
	line := strings.Repeat("1,", 150_000) + "2\n"
	o := vssgpRun(t, "fit", testkit.Put(t, dir, "wide.csv", line+line), "-o", filepath.Join(dir, "m.safetensors"))
	if o.code != cli.ExitMistake || !strings.Contains(o.stderr, "150000 inputs in 2 rows") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}
