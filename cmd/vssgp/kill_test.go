//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asCommand makes this test binary the command itself.
const asCommand = "VSSGP_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		limitFiles()
		main()
	}
	os.Exit(m.Run())
}

// process is a command line in a process of its own.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	c.Stderr = &bytes.Buffer{}
	return c
}

// kills are those of this test: VSSGP_KILLS, or a few.
func kills(t *testing.T) int {
	text := os.Getenv("VSSGP_KILLS")
	if text == "" {
		return 12
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("VSSGP_KILLS=%s: want a number of kills", text)
	}
	return n
}

// killLines are fits of every form of optimiser.
var killLines = []string{
	"--init paper --features 40 --iterations 60 --restarts 1",
	"--window 8 --optimiser windows --components 3 --features 4 --iterations 80",
	"--init paper --inference stochastic --features 40 --iterations 1500 --batch 64",
	"--init paper --features 120 --iterations 25",
}

// TestKill: a fit that is killed at random moments, and while it writes a
// checkpoint, and gone on with each time, ends with the same file as without,
// and leaves nothing beside it. VSSGP_KILLS=100 for a hundred kills.
func TestKill(t *testing.T) {
	want := make([][]byte, len(killLines))
	took := make([]time.Duration, len(killLines))
	source := put(t, t.TempDir(), "data.csv", waves(600))
	line := func(i int, dir string) []string {
		return append(strings.Fields("fit "+source+" --y y1,y2 --every 1ms --resume -o "+filepath.Join(dir, "model")+" --checkpoint "+filepath.Join(dir, "part")), strings.Fields(killLines[i])...)
	}
	for i := range killLines {
		dir := t.TempDir()
		began := time.Now()
		if c := process(t, line(i, dir)...); c.Run() != nil {
			t.Fatal(c.Stderr)
		}
		took[i], want[i] = time.Since(began), content(t, filepath.Join(dir, "model"))
	}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	most, done, writing, resumed, ends := kills(t), 0, 0, 0, 0
	for i := 0; done < most; i = (i + 1) % len(killLines) {
		dir := t.TempDir()
		for range 1 + rng.IntN(2) {
			c := process(t, line(i, dir)...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			after, inWrite := time.Duration(rng.Int64N(int64(took[i]))), done%3 == 2
			if waitForKill(c, dir, after, inWrite) {
				break // it was done before
			}
			done++
			if inWrite {
				writing++
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "part")); err == nil {
			resumed++
		}
		if c := process(t, line(i, dir)...); c.Run() != nil {
			t.Fatal(c.Stderr)
		}
		ends++
		if !bytes.Equal(content(t, filepath.Join(dir, "model")), want[i]) {
			t.Errorf("%s: another model than without kills", killLines[i])
		}
		if left := listing(t, dir); len(left) != 3 { // the folder, model, checkpoint
			t.Errorf("%s: left %v", killLines[i], left)
		}
	}
	t.Logf("%d kills, %d of them aimed at a write, %d fits ended, %d from a checkpoint", done, writing, ends, resumed)
	if resumed == 0 {
		t.Error("no fit was gone on with")
	}
}

// waitForKill kills the process after a time, or as soon as it writes after
// that, and reports whether it had ended by itself.
func waitForKill(c *exec.Cmd, dir string, after time.Duration, inWrite bool) (ended bool) {
	over := make(chan error, 1)
	go func() { over <- c.Wait() }()
	select {
	case <-over:
		return true
	case <-time.After(after):
	}
	for inWrite {
		if temps, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(temps) > 0 {
			break
		}
		select {
		case <-over:
			return true
		default:
		}
	}
	c.Process.Kill()
	err, _ := (<-over).(*exec.ExitError)
	return err == nil || !err.Sys().(syscall.WaitStatus).Signaled()
}

// fileLimit is the environment's variable for the size that a file may reach.
const fileLimit = "VSSGP_TEST_FILE_LIMIT"

// limitFiles sets that limit in the process of a command.
func limitFiles() {
	if n, err := strconv.ParseUint(os.Getenv(fileLimit), 10, 63); err == nil {
		limit := syscall.Rlimit{}
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			panic(err)
		}
		limit.Cur = n
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			panic(fmt.Sprint("limit the size of files: ", err))
		}
	}
}

// TestKillFill: a fill of 300 gaps that is killed at random moments, and gone on with each time, ends with the same files as without, fills
// nothing twice that was finished, and leaves nothing beside them.
func TestKillFill(t *testing.T) {
	dir := t.TempDir()
	samples := words(t, readFile(t, spoken))
	var gaps strings.Builder
	gaps.WriteString("start,end\n")
	for i := range 300 {
		at := 200 + i*(len(samples)-500)/300
		fmt.Fprintf(&gaps, "%d,%d\n", at, at+1+i%24)
	}
	source := put(t, dir, "gaps.csv", gaps.String())
	line := func(dir string) []string {
		return []string{"impute", spoken, "--gaps", source, "--draws", "1", "--resume", "--checkpoint", filepath.Join(dir, "part"), "-o", filepath.Join(dir, "out.wav")}
	}
	whole := t.TempDir()
	began := time.Now()
	if c := process(t, line(whole)...); c.Run() != nil {
		t.Fatal(c.Stderr)
	}
	took := time.Since(began)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	most := min(10, kills(t))
	if testing.Short() {
		most = 3
	}
	out, kept := t.TempDir(), 0
	for done := 0; done < most; {
		c := process(t, line(out)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if waitForKill(c, out, time.Duration(rng.Int64N(int64(took)/int64(most)+1)), false) {
			out, kept = t.TempDir(), 0 // it was done: from the beginning
			continue
		}
		done++
		info, err := os.Stat(filepath.Join(out, "part"))
		if err != nil {
			continue // killed before it began
		}
		if int(info.Size()) < kept {
			t.Errorf("the checkpoint has %d bytes, had %d", info.Size(), kept)
		}
		kept = int(info.Size())
	}
	if c := process(t, line(out)...); c.Run() != nil {
		t.Fatal(c.Stderr)
	}
	for _, name := range []string{"out.wav", "out-1.wav"} {
		if !bytes.Equal(content(t, filepath.Join(out, name)), content(t, filepath.Join(whole, name))) {
			t.Errorf("another %s than without kills", name)
		}
	}
	if a, b := len(content(t, filepath.Join(out, "part"))), len(content(t, filepath.Join(whole, "part"))); a != b {
		t.Errorf("the checkpoint has %d bytes, %d without kills: fills were made twice", a, b)
	}
	if left := listing(t, out); len(left) != 4 { // the folder, outputs, checkpoint
		t.Errorf("left %v", left)
	}
	if kept == 0 && most > 3 {
		t.Error("nothing was gone on with")
	}
}
