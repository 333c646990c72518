//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/simd"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// asCommand is the environment variable that makes this test binary run the command.
const asCommand = "VSSGP_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		limitFiles()
		main()
	}
	os.Exit(m.Run())
}

// process returns a command line in a new process.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	self := testkit.Must(os.Executable())(t)
	c := exec.CommandContext(ctx, self, args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	c.Stderr = &bytes.Buffer{}
	return c
}

// fileLimit is the environment variable with the maximum size of a file.
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

// faultLine is a fit whose checkpoint is larger than its model.
const faultLine = "fit %s --y y1,y2 --device cpu --every 1ms --window 15 --components 3 --features 4 --iterations 800 -o %s --checkpoint %s"

func faultArgs(source, dir string, more ...string) []string {
	return append(strings.Fields(fmt.Sprintf(faultLine, source, filepath.Join(dir, "model"), filepath.Join(dir, "part"))), more...)
}

// exit returns the exit code and the stderr of a process.
func exit(t *testing.T, c *exec.Cmd) outcome {
	t.Helper()
	err := c.Run()
	var e *exec.ExitError
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return ended(c)
}

// ended returns the outcome of a process that has ended.
func ended(c *exec.Cmd) outcome {
	return outcome{c.ProcessState.ExitCode(), "", fmt.Sprint(c.Stderr)}
}

// fastFolder returns a folder in memory if possible, because a checkpoint waits for the disk and a short fit on a slow disk writes few
// checkpoints.
func fastFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "vssgp")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// undisturbed returns the model of the fault fit without a fault.
func undisturbed(t *testing.T) (source string, model []byte, checkpoint int64) {
	t.Helper()
	dir := fastFolder(t)
	source = testkit.Put(t, dir, "data.csv", waves(600))
	for range busy {
		if o := exit(t, process(t, faultArgs(source, dir)...)); o.code != 0 {
			t.Fatal(o.stderr)
		}
		info := testkit.Must(os.Stat(filepath.Join(dir, "part")))(t)
		model, checkpoint = testkit.Read(t, filepath.Join(dir, "model")), max(checkpoint, info.Size())
		if int64(len(model)) <= checkpoint*3/4 {
			break
		}
	}
	return source, model, checkpoint
}

// busy is the maximum number of runs until a fit writes a checkpoint at the right time, which is rare on a busy machine.
const busy = 20

// TestFullDisk checks that a fit continues with a message if the disk is full, keeps the
// previous checkpoint, and can be resumed from it.
func TestFullDisk(t *testing.T) {
	source, want, whole := undisturbed(t)
	if int64(len(want)) > whole*3/4 {
		t.Fatalf("the model has %d bytes, the checkpoint %d: the test requires space for only the first", len(want), whole)
	}
	for _, name := range []string{"limited files", "small disk"} {
		t.Run(name, func(t *testing.T) {
			dir, env := fastFolder(t), fmt.Sprint(fileLimit, "=", whole*3/4)
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
			warned := false
			for i := 0; i < busy && !warned; i++ {
				c := process(t, faultArgs(source, dir)...)
				c.Env = append(c.Env, env)
				o := exit(t, c)
				warned = strings.Contains(o.stderr, "without a new checkpoint")
				if o.code != 0 {
					t.Fatalf("exit %d, %q; want the fit to continue", o.code, o.stderr)
				}
			}
			if !warned {
				t.Error("no message about a failed checkpoint")
			}
			finished(t, dir, want)
			testkit.OK(t, os.Remove(filepath.Join(dir, "model")))
			o := process(t, faultArgs(source, dir, "--resume", "--json")...)
			var stdout bytes.Buffer
			o.Stdout = &stdout
			if end := exit(t, o); end.code != 0 {
				t.Fatalf("resumed: exit %d, %s", end.code, end.stderr)
			}
			if r := decode[printed](t, stdout.String()); r.Resumed == nil || *r.Resumed < 1 {
				t.Errorf("resumed %v; want the previous checkpoint", r.Resumed)
			}
			finished(t, dir, want)
		})
	}
}

// finished fails the test unless the folder has a model and a checkpoint and nothing else.
func finished(t *testing.T, dir string, model []byte) {
	t.Helper()
	if !bytes.Equal(testkit.Read(t, filepath.Join(dir, "model")), model) {
		t.Error("another model")
	}
	if left := listing(t, dir); len(left) != 3 {
		t.Errorf("left %v; want the model and the checkpoint", left)
	}
}

// TestReadOnlyFolder checks that a read-only folder is an error before the fit, and that a checkpoint in it is unchanged.
func TestReadOnlyFolder(t *testing.T) {
	source, _, _ := undisturbed(t)
	top, err := os.MkdirTemp("", "vssgp") // other users cannot read t.TempDir
	testkit.OK(t, err)
	defer os.RemoveAll(top)
	dir, data, program := filepath.Join(top, "read-only"), filepath.Join(top, "data.csv"), filepath.Join(top, "program")
	testkit.OK(t, errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(data, testkit.Read(t, source), 0o644),
		os.WriteFile(filepath.Join(dir, "part"), []byte("old"), 0o666)))
	c := process(t, faultArgs(data, dir)...)
	for i, a := range c.Args {
		if c.Args[i] = a; a == filepath.Join(dir, "model") {
			c.Args[i] = filepath.Join(top, "open", "model")
		}
	}
	testkit.OK(t, errors.Join(copyFile(program, c.Path), os.Mkdir(filepath.Join(top, "open"), 0o777),
		os.Chmod(filepath.Join(top, "open"), 0o777), os.Chmod(top, 0o755), os.Chmod(filepath.Join(dir, "part"), 0o666), os.Chmod(dir, 0o555)))
	c.Path = program
	if os.Geteuid() == 0 { // root can write everywhere
		const nobody = 65534
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	before := listing(t, top)
	exit(t, c).fails(t, "fit", cli.ExitMistake, dir, "choose a writable folder")
	if after := listing(t, top); !maps.Equal(before, after) {
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

// TestTwoProcesses checks that a second process with the same checkpoint fails with the PID of the first and does not affect it, and that
// it can resume from the checkpoint after SIGTERM with the same result.
func TestTwoProcesses(t *testing.T) {
	source, want, _ := undisturbed(t)
	dir := t.TempDir()
	first := process(t, faultArgs(source, dir)...)
	testkit.OK(t, first.Start())
	waitFor(t, filepath.Join(dir, "part"))
	testkit.OK(t, first.Process.Signal(syscall.SIGSTOP))
	before := testkit.Read(t, filepath.Join(dir, "part"))
	second := exit(t, process(t, faultArgs(source, dir, "--resume")...))
	second.fails(t, "fit --resume", cli.ExitMistake, fmt.Sprint("in use by process ", first.Process.Pid))
	if !bytes.Equal(testkit.Read(t, filepath.Join(dir, "part")), before) {
		t.Error("the second process has changed the checkpoint")
	}
	testkit.OK(t, errors.Join(first.Process.Signal(syscall.SIGTERM), first.Process.Signal(syscall.SIGCONT)))
	first.Wait()
	ended(first).fails(t, "fit", cli.ExitInterrupted, "--resume")
	if o := exit(t, process(t, faultArgs(source, dir, "--resume")...)); o.code != 0 {
		t.Fatal(o.stderr)
	}
	finished(t, dir, want)
}

// printing are command lines in clashFolder that print on stdout, for every command and each of its forms.
var printing = []string{
	"--help", "help", "help fit", "help tables", "fit --help", "--version", "version", "version --json", "completion bash", "completion zsh",
	"completion fish", "completion powershell",
	"completion", "devices", "devices --json", "info m.safetensors", "info m.safetensors --json",
	"evaluate m.safetensors data.csv", "evaluate m.safetensors data.csv --json", "evaluate m.safetensors data.csv --gradient",
	"fit data.csv -o new.st --iterations 2", "fit data.csv -o new.st --iterations 2 --json", "fit data.csv --x seconds --y y1 -o new.st",
	"fit data.csv --x seconds --y y1 -o new.st --json",
	"forecast holes.csv --horizon 2 -o new.csv", "forecast holes.csv --horizon 2 -o -", "forecast holes.csv --horizon 2 -o new.csv --json",
	"fill holes.csv -o -", "fill holes.csv -o new.csv", "fill holes.csv -o new.csv --json",
	"backtest data.csv --y y1,y2 --horizon 3 --origins 1", "backtest data.csv --y y1,y2 --horizon 3 --origins 1 --json",
	"repair cut0.wav --gap 600:620 -o new.wav", "repair cut0.wav --gap 600:620 -o new.wav --json",
	"predict m.safetensors data.csv --x seconds -o -", "predict m.safetensors data.csv --x seconds -o new.csv --json",
	"man new", "man new --json", "serve",
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

// TestFullStdout checks that failing to write to stdout is an error in one line for every command, and no error if nothing is printed.
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
		full := testkit.Must(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
		defer full.Close()
		var stderr bytes.Buffer
		code := run(context.Background(), strings.Fields(line), full, &stderr, nil)
		return outcome{code, "", stderr.String()}
	}
	for _, line := range oneEach(printing) {
		onFull(line).fails(t, line, cli.ExitFailure, cli.Prefix+"write to stdout: no space left on device\n")
	}
	for _, line := range []string{"fit data.csv -o new.st --iterations 2 --quiet", "predict m.safetensors data.csv --x seconds -o new.csv"} {
		if o := onFull(line); o.code != cli.ExitDone || o.stderr != "" {
			t.Errorf("vssgp %s: exit %d, %q; want nothing", line, o.code, o.stderr)
		}
	}
	onFull("fit none.csv -o new.st").fails(t, "fit none.csv", cli.ExitMistake)
}

// writing are command lines with an output OUT and its extension.
var writing = []string{
	"fit data.csv -o OUT.st --iterations 2", "fit data.csv -o new.st --report OUT.html --iterations 2",
	"fit data.csv -o new.st --report OUT.png --iterations 2",
	"forecast data.csv --horizon 2 --quiet -o OUT.csv", "forecast data.csv --horizon 2 --quiet -o new.csv -m OUT.st",
	"forecast data.csv --horizon 2 --quiet -o new.csv --plot OUT.svg", "fill data.csv --y y1 --quiet -o OUT.csv",
	"fit data.csv --x seconds --y y1 -o OUT.st",
	"predict m.safetensors data.csv --x seconds -o OUT.csv", "predict m.safetensors data.csv --x seconds -o OUT.npy",
	"predict m.safetensors clean.wav -o OUT.wav",
	"predict m.safetensors data.csv --x seconds -o new.csv --draws 1 --draws-file OUT.npy",
	"predict m.safetensors data.csv --x seconds -o new.csv --plot OUT.svg",
	"info m.safetensors --plot OUT.html",
	"impute cut0.wav --gap 600:620 -o OUT.wav", "impute cut0.wav --gap 600:620 -o new.wav --sd OUT.csv",
	"impute cut0.wav --gap 600:620 -o new.wav --report OUT.html",
	"impute cut0.wav --gap 600:620 -o new.wav --model OUT.st", "impute cut0.wav --gap 600:620 -o new.wav --draws 1",
}

// TestFullOutput checks that a full disk is an error in one line.
func TestFullOutput(t *testing.T) {
	t.Chdir(clashFolder(t))
	for i, line := range oneEach(writing) {
		name := "new-1.wav"
		if ext := extension(line); ext != "" {
			name = fmt.Sprint("full", i) + ext
			line = strings.Replace(line, "OUT"+ext, name, 1)
		}
		testkit.OK(t, os.Symlink("/dev/full", name))
		vssgpRun(t, strings.Fields(line)...).fails(t, line, cli.ExitFailure, name, "no space left on device")
	}
	if left, _ := filepath.Glob(".*.tmp"); left != nil {
		t.Errorf("left %v", left)
	}
}

// TestPipesIn checks that a pipe as input is an error instead of blocking.
func TestPipesIn(t *testing.T) {
	t.Chdir(clashFolder(t))
	for _, ext := range []string{".csv", ".npy", ".wav", ".safetensors"} {
		testkit.OK(t, syscall.Mkfifo("pipe"+ext, 0o666))
	}
	for _, line := range []string{
		"fit pipe.csv -o new.st", "fit pipe.npy -o new.st", "fit pipe.wav -o new.st", "fit data.csv -o new.st --init pipe.safetensors",
		"fit data.csv -o new.st --checkpoint pipe.safetensors",
		"info pipe.safetensors", "evaluate m.safetensors pipe.csv", "predict m.safetensors pipe.csv -o new.csv",
		"predict m.safetensors pipe.wav -o new.csv",
		"impute pipe.wav --gap 600:620 -o new.wav", "impute cut0.wav --gaps pipe.csv -o new.wav",
		"impute cut0.wav --gap 600:620 --reference pipe.wav -o new.wav",
	} {
		refuse(t, "a pipe", strings.Fields(line)...)
	}
}

// TestInstructionSet checks that an unknown instruction set is an error before the work of every command.
func TestInstructionSet(t *testing.T) {
	dir := clashFolder(t)
	t.Chdir(dir)
	before := listing(t, dir)
	for _, line := range []string{
		"fit data.csv -o new.st", "info m.safetensors", "evaluate m.safetensors data.csv", "predict m.safetensors data.csv -o new.csv", "devices",
		"impute cut0.wav --gap 600:620 -o new.wav",
	} {
		c := process(t, strings.Fields(line)...)
		c.Env = append(c.Env, simd.Variable+"=bogus")
		exit(t, c).fails(t, line, cli.ExitMistake, simd.Variable, `"bogus" is not an instruction set; must be one of go`)
	}
	if after := listing(t, dir); !maps.Equal(before, after) {
		t.Errorf("left %v", after)
	}
}
