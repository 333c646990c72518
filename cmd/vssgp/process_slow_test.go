//go:build linux && slow

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
)

// kills returns the number of kills: VSSGP_KILLS, or a few by default.
func kills(t *testing.T) int {
	text := os.Getenv("VSSGP_KILLS")
	if text == "" {
		return 12
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("VSSGP_KILLS=%s: must be a number of kills", text)
	}
	return n
}

// killLines are fits with every kind of optimizer.
var killLines = []string{
	"--init paper --features 40 --iterations 60 --restarts 1",
	"--window 8 --optimizer windows --components 3 --features 4 --iterations 80",
	"--init paper --inference stochastic --features 40 --iterations 1500 --batch 64",
	"--init paper --features 120 --iterations 25",
}

// TestKilledFitEndsUndisturbed checks that a fit that is killed at random times and during writes, and resumed each time, ends with the same file as an
// undisturbed fit and leaves only hidden temporary files. VSSGP_KILLS=100 sets a hundred kills.
func TestKilledFitEndsUndisturbed(t *testing.T) {
	want := make([][]byte, len(killLines))
	took := make([]time.Duration, len(killLines))
	source := testkit.Put(t, t.TempDir(), "data.csv", waves(600))
	line := func(i int, dir string) []string {
		return append(strings.Fields("fit "+source+" --y y1,y2 --every 1ms --resume -o "+filepath.Join(dir,
			"model")+" --checkpoint "+filepath.Join(dir, "part")), strings.Fields(killLines[i])...)
	}
	for i := range killLines {
		dir := t.TempDir()
		c := process(t, line(i, dir)...)
		if c.Run() != nil {
			t.Fatal(c.Stderr)
		}
		took[i], want[i] = worked(c), testkit.Read(t, filepath.Join(dir, "model"))
	}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	most, done, writing, resumed, ends := kills(t), 0, 0, 0, 0
	for i := 0; done < most; i = (i + 1) % len(killLines) {
		dir := t.TempDir()
		for range 1 + rng.IntN(2) {
			c := process(t, line(i, dir)...)
			testkit.OK(t, c.Start())
			after, inWrite := time.Duration(rng.Int64N(int64(took[i]))), done%3 == 2
			if waitForKill(c, dir, after, inWrite) {
				break // it ended before the kill
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
		if !bytes.Equal(testkit.Read(t, filepath.Join(dir, "model")), want[i]) {
			t.Errorf("%s: a different model than without kills", killLines[i])
		}
		temps, _ := filepath.Glob(filepath.Join(dir, ".*.tmp"))
		if left := listing(t, dir); len(left) != 3+len(temps) { // the folder, model, checkpoint
			t.Errorf("%s: left %v", killLines[i], left)
		}
	}
	t.Logf("%d kills, %d of them aimed at a write, %d fits ended, %d from a checkpoint", done, writing, ends, resumed)
	if resumed == 0 {
		t.Error("no fit was resumed")
	}
}

// waitForKill kills the process after so much processor time, or as soon as it
// writes after that, and reports whether it had ended by itself.
func waitForKill(c *exec.Cmd, dir string, after time.Duration, inWrite bool) (ended bool) {
	over := make(chan error, 1)
	go func() { over <- c.Wait() }()
	for cpuTime(c.Process.Pid) < after {
		select {
		case <-over:
			return true
		case <-time.After(time.Millisecond):
		}
	}
	old, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")) // of earlier kills
	for inWrite {
		if temps, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(temps) > len(old) {
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

// TestTermProcess checks that SIGTERM ends long predictions and evaluations within a short time at any stage and that no files are left.
func TestTermProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	model, _ := fittedWave(t, ".")
	long := wav(1000, 2, make([]int16, 2*1000))
	const data = 0x03fff000 // bytes of samples of the extended file, which is silent
	binary.LittleEndian.PutUint32(long[4:], 36+data)
	binary.LittleEndian.PutUint32(long[40:], data)
	testkit.Put(t, ".", "long.wav", string(long))
	testkit.OK(t, os.Truncate("long.wav", 44+data))
	table := make([]byte, 0, 64<<20)
	table = append(table, "seconds,left,right\n"...)
	for i := range 4_000_000 {
		table = fmt.Appendf(table, "%d.5,0,1\n", i)
	}
	testkit.Put(t, ".", "long.csv", string(table))
	files := listing(t, ".")
	for _, line := range []string{"predict MODEL long.wav -o out.csv", "predict MODEL long.csv --x seconds -o out.npy",
		"predict MODEL long.wav --draws 2 -o out.wav", "predict MODEL long.wav -o -", "evaluate MODEL long.wav",
		"evaluate MODEL long.csv --x seconds --y left,right"} {
		for _, wait := range []time.Duration{100 * time.Millisecond, 1500 * time.Millisecond} {
			c := process(t, append(strings.Fields(strings.Replace(line, "MODEL", model, 1)), "--device", "cpu")...)
			c.Stdout = &bytes.Buffer{}
			testkit.OK(t, c.Start())
			for began := time.Now(); cpuTime(c.Process.Pid) < wait && time.Since(began) < timeout; {
				time.Sleep(5 * time.Millisecond)
			}
			before := cpuTime(c.Process.Pid)
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatalf("vssgp %s: %v, %s; want it to take longer", line, err, c.Stderr)
			}
			c.Wait()
			took := worked(c) - before
			t.Logf("%v of processor time, signal after %v: %s", took, wait, line)
			ended(c).fails(t, line, cli.ExitInterrupted, cli.Prefix+"interrupted")
			if took > 5*time.Second {
				t.Errorf("vssgp %s: worked for %v after the signal", line, took)
			}
			if out := fmt.Sprint(c.Stdout); out != "" {
				t.Errorf("vssgp %s: printed %.60q", line, out)
			}
			if after := listing(t, "."); !maps.Equal(files, after) {
				t.Errorf("vssgp %s: left %v", line, after)
			}
		}
	}
}

// worked returns the processor time of a process that has ended.
func worked(c *exec.Cmd) time.Duration {
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// cpuTime returns the processor time of a process that is running.
func cpuTime(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	var user, system int64 // in hundredths of a second
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}
