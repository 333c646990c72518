package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/ranks"
)

// onRanks runs one command line on n ranks of this process.
func onRanks(t *testing.T, n int, args ...string) outcome {
	t.Helper()
	all := ranks.Group(n)
	var others sync.WaitGroup
	for _, c := range all[1:] {
		others.Go(func() {
			testkit.OK(t, ranks.Serve(c, cli.OpenDevice))
		})
	}
	var stdout, stderr bytes.Buffer
	done := make(chan int, 1)
	go func() {
		j := &cli.Job{Comm: all[0], Leave: func() {}}
		ctx := context.Background()
		code := j.Lead(ctx, &stderr, func() int { return run(ctx, args, &stdout, &stderr, j) })
		others.Wait()
		done <- code
	}()
	select {
	case code := <-done:
		return outcome{code, stdout.String(), stderr.String()}
	case <-time.After(timeout):
		t.Fatalf("vssgp %s on %d ranks: no end after %v", strings.Join(args, " "), n, timeout)
		return outcome{}
	}
}

// TestSameBytesOnAnyRanks checks that fit writes the same bytes on any number of ranks, that evaluate agrees with one process, and that both print times.
func TestSameBytesOnAnyRanks(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(120))
	var first []byte
	for n := 1; n <= 4; n++ {
		model := filepath.Join(dir, "m.safetensors")
		o := onRanks(t, n, "fit", data, "--x", "t", "--y", "y1,y2", "-o", model, "--iterations", "10", "--json")
		if o.code != cli.ExitDone {
			t.Fatalf("%d ranks: exit %d: %s", n, o.code, o.stderr)
		}
		r := decode[printed](t, o.stdout)
		if r.Ranks == nil || r.Ranks.Size != n || !(r.Ranks.Compute > 0) || !(r.Ranks.Share >= 0 && r.Ranks.Share < 1) ||
			!strings.Contains(r.Device, "rank") {
			t.Errorf("%d ranks: printed %s", n, o.stdout)
		}
		got := testkit.Read(t, model)
		if n == 1 {
			first = got
		} else if !bytes.Equal(got, first) {
			t.Errorf("%d ranks: a different model than one rank's", n)
		}
		one := decode[printed](t, succeed(t, "evaluate", model, data, "--json").stdout)
		many := decode[printed](t, onRanks(t, n, "evaluate", model, data, "--json").stdout)
		if d := one.Bound/many.Bound - 1; d > 1e-10 || d < -1e-10 || // sums are rounded differently
			one.Ranks != nil || many.Ranks == nil {
			t.Errorf("%d ranks: bound %v, one process %v", n, many.Bound, one.Bound)
		}
	}
}

// TestRanksMessages checks the printed line of times, and that errors are printed once with their usual exit code and no rank hangs.
func TestRanksMessages(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(120))
	model := filepath.Join(dir, "m.safetensors")
	o := onRanks(t, 2, "fit", data, "--x", "t", "--y", "y1,y2", "-o", model, "--iterations", "2")
	if o.code != cli.ExitDone || !strings.Contains(o.stdout, "ranks: 2,") || !strings.Contains(o.stdout, "communication") {
		t.Errorf("exit %d, printed %s%s", o.code, o.stdout, o.stderr)
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{cli.ExitMistake, []string{"fit", filepath.Join(dir, "none.csv"), "-o", model}},
		{cli.ExitMistake, []string{"fit", data}},
		{cli.ExitMistake, []string{"fit", data, "-o", model, "--bogus"}},
		{cli.ExitMistake, []string{"fit", data, "-o", model, "--device", "cuda:99"}},
		{cli.ExitMistake, []string{"evaluate", data, data}},
		{cli.ExitDone, []string{"info", model}},
	} {
		o := onRanks(t, 3, c.args...)
		lines := strings.Count(o.stderr, "\n")
		if o.code != c.code || c.code != cli.ExitDone && (lines != 1 || !strings.HasPrefix(o.stderr, cli.Prefix)) {
			t.Errorf("%v: exit %d with %q, want %d and one line", c.args, o.code, o.stderr, c.code)
		}
	}
}
