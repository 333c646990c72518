//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// printing are command lines that print something on stdout, of every command and each of its forms, in clashFolder.
var printing = []string{
	"--help", "help", "help fit", "fit --help", "--version", "version", "version --json", "completion bash", "completion zsh", "completion fish", "completion powershell",
	"completion", "devices", "devices --json", "info m.safetensors", "info m.safetensors --json",
	"evaluate m.safetensors data.csv", "evaluate m.safetensors data.csv --json", "evaluate m.safetensors data.csv --gradient",
	"fit data.csv -o new.st --iterations 2", "fit data.csv -o new.st --iterations 2 --json", "fit data.csv --x seconds --y y1 -o new.st", "fit data.csv --x seconds --y y1 -o new.st --json",
	"forecast holes.csv --horizon 2 -o new.csv", "forecast holes.csv --horizon 2 -o -", "forecast holes.csv --horizon 2 -o new.csv --json", "fill holes.csv -o -", "fill holes.csv -o new.csv", "fill holes.csv -o new.csv --json",
	"backtest data.csv --y y1,y2 --horizon 3 --origins 1", "backtest data.csv --y y1,y2 --horizon 3 --origins 1 --json",
	"impute cut0.wav --gap 600:620 -o new.wav", "impute cut0.wav --gap 600:620 -o new.wav --json",
	"predict m.safetensors data.csv --x seconds -o -", "predict m.safetensors data.csv --x seconds -o new.csv --json",
	"serve",
}

// oneEach returns all lines if the tests run in full, and otherwise the first of each command.
func oneEach(lines []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		command := strings.Fields(line)[0]
		again := seen[command]
		seen[command] = true
		return again && !slow.Tests
	})
}

// TestFullStdout: what cannot be printed is an error in one line, whatever the command prints; what prints nothing has nothing to fail.
func TestFullStdout(t *testing.T) {
	t.Chdir(clashFolder(t))
	testkit.Put(t, ".", "holes.csv", "t,y\n0,1\n1,\n2,1\n3,2\n4,1\n")
	for _, c := range commands() {
		if !slices.ContainsFunc(printing, func(line string) bool {
			return strings.HasPrefix(line+" ", strings.TrimPrefix(c.CommandPath(), "vssgp ")+" ")
		}) && c.HasParent() {
			t.Errorf("%s is not among the lines of this test", c.CommandPath())
		}
	}
	onFull := func(line string) outcome {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer full.Close()
		var stderr bytes.Buffer
		code := run(context.Background(), strings.Fields(line), full, &stderr, nil)
		return outcome{code, "", stderr.String()}
	}
	for _, line := range oneEach(printing) {
		o := onFull(line)
		if o.code != cli.ExitFailure || o.stderr != cli.Prefix+"write to stdout: no space left on device\n" {
			t.Errorf("vssgp %s: exit %d, %q; want %d and one line", line, o.code, o.stderr, cli.ExitFailure)
		}
	}
	for _, line := range []string{"fit data.csv -o new.st --iterations 2 --quiet", "predict m.safetensors data.csv --x seconds -o new.csv"} {
		if o := onFull(line); o.code != cli.ExitDone || o.stderr != "" {
			t.Errorf("vssgp %s: exit %d, %q; want nothing", line, o.code, o.stderr)
		}
	}
	if o := onFull("fit none.csv -o new.st"); o.code != cli.ExitMistake || strings.Count(o.stderr, "\n") != 1 {
		t.Errorf("a mistake: exit %d, %q; want it alone", o.code, o.stderr)
	}
}

// writing are command lines for which there is an OUT to be written, with its extension.
var writing = []string{
	"fit data.csv -o OUT.st --iterations 2", "fit data.csv -o new.st --report OUT.html --iterations 2", "fit data.csv -o new.st --report OUT.png --iterations 2",
	"forecast data.csv --horizon 2 --quiet -o OUT.csv", "forecast data.csv --horizon 2 --quiet -o new.csv -m OUT.st", "forecast data.csv --horizon 2 --quiet -o new.csv --plot OUT.svg", "fill data.csv --y y1 --quiet -o OUT.csv", "fit data.csv --x seconds --y y1 -o OUT.st",
	"predict m.safetensors data.csv --x seconds -o OUT.csv", "predict m.safetensors data.csv --x seconds -o OUT.npy", "predict m.safetensors clean.wav -o OUT.wav",
	"predict m.safetensors data.csv --x seconds -o new.csv --draws 1 --draws-file OUT.npy", "predict m.safetensors data.csv --x seconds -o new.csv --plot OUT.svg",
	"info m.safetensors --plot OUT.html",
	"impute cut0.wav --gap 600:620 -o OUT.wav", "impute cut0.wav --gap 600:620 -o new.wav --sd OUT.csv", "impute cut0.wav --gap 600:620 -o new.wav --report OUT.html",
	"impute cut0.wav --gap 600:620 -o new.wav --model OUT.st", "impute cut0.wav --gap 600:620 -o new.wav --draws 1",
}

// TestFullOutput: a file for which there is no room is an error in one line.
func TestFullOutput(t *testing.T) {
	t.Chdir(clashFolder(t))
	for i, line := range oneEach(writing) {
		at := strings.Index(line, "OUT")
		name := "new-1.wav"
		if at >= 0 {
			name = fmt.Sprint("full", i) + strings.Fields(line[at:])[0][len("OUT"):]
		}
		if err := os.Symlink("/dev/full", name); err != nil {
			t.Fatal(err)
		}
		line = strings.Replace(line, "OUT"+filepath.Ext(name), name, 1)
		o := vssgpRun(t, strings.Fields(line)...)
		if o.code != cli.ExitFailure || strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, name) || !strings.Contains(o.stderr, "no space left on device") {
			t.Errorf("vssgp %s: exit %d, %q; want %d and one line", line, o.code, o.stderr, cli.ExitFailure)
		}
	}
	if left, _ := filepath.Glob(".*.tmp"); left != nil {
		t.Errorf("left %v", left)
	}
}

// TestPipesIn: a pipe that nobody writes is refused, not waited for.
func TestPipesIn(t *testing.T) {
	t.Chdir(clashFolder(t))
	for _, ext := range []string{".csv", ".npy", ".wav", ".safetensors"} {
		if err := syscall.Mkfifo("pipe"+ext, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"fit pipe.csv -o new.st", "fit pipe.npy -o new.st", "fit pipe.wav -o new.st", "fit data.csv -o new.st --init pipe.safetensors", "fit data.csv -o new.st --checkpoint pipe.safetensors",
		"info pipe.safetensors", "evaluate m.safetensors pipe.csv", "predict m.safetensors pipe.csv -o new.csv", "predict m.safetensors pipe.wav -o new.csv",
		"impute pipe.wav --gap 600:620 -o new.wav", "impute cut0.wav --gaps pipe.csv -o new.wav", "impute cut0.wav --gap 600:620 --reference pipe.wav -o new.wav",
	} {
		if o := vssgpRun(t, strings.Fields(line)...); o.code != cli.ExitMistake || !strings.Contains(o.stderr, "a pipe") {
			t.Errorf("vssgp %s: exit %d, %q; want %d", line, o.code, o.stderr, cli.ExitMistake)
		}
	}
}

// TestUnreadProcess: SIGTERM ends every command that waits for somebody to read what it writes.
func TestUnreadProcess(t *testing.T) {
	dir := clashFolder(t)
	t.Chdir(dir)
	full := fullPipe(t)
	if err := os.Symlink("/dev/stdout", "stdout.csv"); err != nil {
		t.Fatal(err)
	}
	for i, line := range append(oneEach(writing), "version", "devices", "info m.safetensors", "evaluate m.safetensors data.csv",
		"predict m.safetensors data.csv --x seconds -o -", "predict m.safetensors data.csv --x seconds -o stdout.csv", "impute cut0.wav --gap 600:620 -o new.wav") {
		if at := strings.Index(line, "OUT"); at >= 0 {
			name := fmt.Sprint("pipe", i) + strings.Fields(line[at:])[0][len("OUT"):]
			if err := syscall.Mkfifo(name, 0o666); err != nil {
				t.Fatal(err)
			}
			line = strings.Replace(line, "OUT"+filepath.Ext(name), name, 1)
		}
		os.Remove("new-1.wav")
		if strings.Contains(line, "--draws 1") && !strings.Contains(line, "--draws-file") {
			if err := syscall.Mkfifo("new-1.wav", 0o666); err != nil {
				t.Fatal(err)
			}
		}
		c := process(t, append(strings.Fields(line), "--device", "cpu")...)
		c.Stdout = full
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		waitIdle(t, line, c.Process.Pid)
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatalf("vssgp %s: %v, %s; want it to wait", line, err, c.Stderr)
		}
		c.Wait()
		text := fmt.Sprint(c.Stderr)
		if code := c.ProcessState.ExitCode(); code != cli.ExitInterrupted || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, cli.Prefix+"interrupted") {
			t.Errorf("vssgp %s: exit %d, %q; want %d and one line", line, code, text, cli.ExitInterrupted)
		}
	}
	if left, _ := filepath.Glob(".*.tmp"); left != nil {
		t.Errorf("left %v", left)
	}
}

// fullPipe is the writing end of a pipe that nobody reads and that takes nothing more.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { errors.Join(r.Close(), w.Close()) })
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	full := raw.Write(func(fd uintptr) bool { // which does not wait
		for err == nil {
			_, err = syscall.Write(int(fd), make([]byte, 1))
		}
		return true
	})
	if full != nil || !errors.Is(err, syscall.EAGAIN) {
		t.Fatalf("fill a pipe: %v, %v", full, err)
	}
	return w
}

// waitIdle waits until a process has worked and then has slept, all threads of it, for a while.
func waitIdle(t *testing.T, line string, pid int) {
	t.Helper()
	began, idle := time.Now(), 0
	for ; idle < 20; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("vssgp %s: it never waits", line)
		}
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		idle++
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			switch at := bytes.LastIndexByte(text, ')'); {
			case at < 0 || at+2 >= len(text), text[at+2] == 'R', text[at+2] == 'D':
				idle = 0
			case text[at+2] == 'Z':
				t.Fatalf("vssgp %s: it did not wait", line)
			}
		}
	}
}
