//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
)

// faultLine is a fit whose checkpoint outgrows its model.
const faultLine = "fit %s --y y1,y2 --device cpu --every 1ms --window 15 --components 3 --features 4 --iterations 800 -o %s --checkpoint %s"

func faultArgs(source, dir string, more ...string) []string {
	return append(strings.Fields(fmt.Sprintf(faultLine, source, filepath.Join(dir, "model"), filepath.Join(dir, "part"))), more...)
}

// exit is how a process ended and what it said on stderr.
func exit(t *testing.T, c *exec.Cmd) (int, string) {
	t.Helper()
	err := c.Run()
	var e *exec.ExitError
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), fmt.Sprint(c.Stderr)
}

// swift is a folder in memory where there is one: a checkpoint waits for the
// disk, writing has a small share of the time, and a fit that ends within a
// second writes few where the disk is slow.
func swift(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "vssgp")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// undisturbed is the model of the fault fit where nothing happens.
func undisturbed(t *testing.T) (source string, model []byte, checkpoint int64) {
	t.Helper()
	dir := swift(t)
	source = testkit.Put(t, dir, "data.csv", waves(600))
	for range busy {
		if code, text := exit(t, process(t, faultArgs(source, dir)...)); code != 0 {
			t.Fatal(text)
		}
		info, err := os.Stat(filepath.Join(dir, "part"))
		if err != nil {
			t.Fatal(err)
		}
		model, checkpoint = testkit.Read(t, filepath.Join(dir, "model")), max(checkpoint, info.Size())
		if int64(len(model)) <= checkpoint*3/4 {
			break
		}
	}
	return source, model, checkpoint
}

// busy is how often a fit is run until it writes when it is to: on a busy machine
// it may come to the writing of a checkpoint only once.
const busy = 20

// TestFullDisk: a checkpoint for which there is no room leaves the one before
// it, the fit goes on and says so; once there is room, it is gone on from.
func TestFullDisk(t *testing.T) {
	source, want, whole := undisturbed(t)
	if int64(len(want)) > whole*3/4 {
		t.Fatalf("the model has %d bytes, the checkpoint %d: the test wants room for the first alone", len(want), whole)
	}
	for _, name := range []string{"limited files", "small disk"} {
		t.Run(name, func(t *testing.T) {
			dir, env := swift(t), fmt.Sprint(fileLimit, "=", whole*3/4)
			if name == "small disk" {
				err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprint("size=", whole*3/2))
				if err != nil && (os.Getenv("VSSGP_REQUIRE_MOUNT") == "1" || !errors.Is(err, fs.ErrPermission)) {
					t.Fatal(err)
				}
				if err != nil {
					t.Skipf("no file system can be mounted here (%v); VSSGP_REQUIRE_MOUNT=1 makes this a failure", err)
				}
				defer syscall.Unmount(dir, syscall.MNT_DETACH)
				env = "NONE="
			}
			said := false
			for i := 0; i < busy && !said; i++ {
				c := process(t, faultArgs(source, dir)...)
				c.Env = append(c.Env, env)
				code, text := exit(t, c)
				said = strings.Contains(text, "without a new checkpoint")
				if code != 0 {
					t.Fatalf("exit %d, %q; want the fit to go on", code, text)
				}
			}
			if !said {
				t.Error("nothing said of a checkpoint for which there is no room")
			}
			finished(t, dir, want)
			if err := os.Remove(filepath.Join(dir, "model")); err != nil {
				t.Fatal(err)
			}
			o := process(t, faultArgs(source, dir, "--resume", "--json")...)
			var stdout bytes.Buffer
			o.Stdout = &stdout
			if code, text := exit(t, o); code != 0 {
				t.Fatalf("gone on with: exit %d, %s", code, text)
			}
			if r := decode[fitPrinted](t, stdout.String()); r.Resumed == nil || *r.Resumed < 1 {
				t.Errorf("resumed %v; want the checkpoint before to be whole", r.Resumed)
			}
			finished(t, dir, want)
		})
	}
}

// TestFullDiskModel: a model for which there is no room is no success, and
// leaves nothing.
func TestFullDiskModel(t *testing.T) {
	source, want, _ := undisturbed(t)
	dir := t.TempDir()
	c := process(t, strings.Fields(fmt.Sprintf("fit %s --device cpu --y y1,y2 --window 15 --components 3 --features 4 --iterations 2 -o %s", source, filepath.Join(dir, "model")))...)
	c.Env = append(c.Env, fmt.Sprint(fileLimit, "=", len(want)/2))
	code, text := exit(t, c)
	if code != cli.ExitFailure || strings.Count(text, "\n") != 1 || !strings.Contains(text, "file too large") {
		t.Errorf("exit %d, %q; want %d and the reason", code, text, cli.ExitFailure)
	}
	if left := listing(t, dir); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

// finished fails the test unless the folder holds the model and a checkpoint
// and nothing else.
func finished(t *testing.T, dir string, model []byte) {
	t.Helper()
	if !bytes.Equal(testkit.Read(t, filepath.Join(dir, "model")), model) {
		t.Error("another model")
	}
	if left := listing(t, dir); len(left) != 3 {
		t.Errorf("left %v; want the model and the checkpoint", left)
	}
}

// TestReadOnlyFolder: a folder that takes no files is refused before the fit,
// and a checkpoint in it stays.
func TestReadOnlyFolder(t *testing.T) {
	source, _, _ := undisturbed(t)
	top, err := os.MkdirTemp("", "vssgp") // t.TempDir lets nobody else in
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(top)
	dir, data, program := filepath.Join(top, "read-only"), filepath.Join(top, "data.csv"), filepath.Join(top, "program")
	if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(data, testkit.Read(t, source), 0o644), os.WriteFile(filepath.Join(dir, "part"), []byte("old"), 0o666)); err != nil {
		t.Fatal(err)
	}
	c := process(t, faultArgs(data, dir)...)
	for i, a := range c.Args {
		if c.Args[i] = a; a == filepath.Join(dir, "model") {
			c.Args[i] = filepath.Join(top, "open", "model")
		}
	}
	if err := errors.Join(copyFile(program, c.Path), os.Mkdir(filepath.Join(top, "open"), 0o777), os.Chmod(filepath.Join(top, "open"), 0o777), os.Chmod(top, 0o755), os.Chmod(filepath.Join(dir, "part"), 0o666), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	c.Path = program
	if os.Geteuid() == 0 { // who may write everywhere
		const nobody = 65534
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	before := listing(t, top)
	code, text := exit(t, c)
	if code != cli.ExitMistake || strings.Count(text, "\n") != 1 || !strings.Contains(text, dir) || !strings.Contains(text, "choose a folder that takes new files") {
		t.Errorf("exit %d, %q; want %d and what to do", code, text, cli.ExitMistake)
	}
	if after := listing(t, top); !same(before, after) {
		t.Errorf("left %v", after)
	}
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// TestTwoProcesses: of two processes with one checkpoint the second is told who
// has it; the first is none the worse, and SIGTERM has it leave a checkpoint
// that the second goes on from to the same file.
func TestTwoProcesses(t *testing.T) {
	source, want, _ := undisturbed(t)
	dir := t.TempDir()
	first := process(t, faultArgs(source, dir)...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(dir, "part"))
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := testkit.Read(t, filepath.Join(dir, "part"))
	code, text := exit(t, process(t, faultArgs(source, dir, "--resume")...))
	if code != cli.ExitMistake || !strings.Contains(text, fmt.Sprint("in use by process ", first.Process.Pid)) {
		t.Errorf("the second: exit %d, %q; want %d and who has the checkpoint", code, text, cli.ExitMistake)
	}
	if !bytes.Equal(testkit.Read(t, filepath.Join(dir, "part")), before) {
		t.Error("the second process has changed the checkpoint")
	}
	if err := errors.Join(first.Process.Signal(syscall.SIGTERM), first.Process.Signal(syscall.SIGCONT)); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	code, text = first.ProcessState.ExitCode(), fmt.Sprint(first.Stderr)
	if code != cli.ExitInterrupted || strings.Count(text, "\n") != 1 || !strings.Contains(text, "--resume") {
		t.Errorf("the first: exit %d, %q; want %d and how to go on", code, text, cli.ExitInterrupted)
	}
	if code, text := exit(t, process(t, faultArgs(source, dir, "--resume")...)); code != 0 {
		t.Fatal(text)
	}
	finished(t, dir, want)
}
