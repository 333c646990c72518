//go:build mpi

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// program builds the command and finds mpirun. Without mpirun it skips the test, or fails if VSSGP_REQUIRE_MPI=1.
func program(t *testing.T) (mpirun, exe string) {
	t.Helper()
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) && os.Getenv("VSSGP_REQUIRE_MPI") == "" {
			t.Skip("no mpirun; VSSGP_REQUIRE_MPI=1 makes this a failure")
		}
		t.Fatal(err)
	}
	exe = filepath.Join(t.TempDir(), "vssgp")
	if out, err := exec.Command("go", "build", "-tags", "mpi", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return mpirun, exe
}

// launch returns a command line on n ranks, with the options that Open MPI requires in containers.
func launch(ctx context.Context, mpirun, exe string, n int, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, mpirun, append([]string{"-n", strconv.Itoa(n), exe}, args...)...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
		"OMPI_MCA_odls_base_sigkill_timeout=4") // seconds to save, which mpirun waits in any case
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	return cmd, &stdout, &stderr
}

// vssgpLines returns the lines of stderr printed by vssgp.
func vssgpLines(stderr string) (lines []string) {
	for _, l := range strings.Split(stderr, "\n") {
		if strings.HasPrefix(l, cli.Prefix) && !strings.Contains(l, "computing on") {
			lines = append(lines, l)
		}
	}
	return lines
}

// TestMPIRun checks that processes under mpirun write the same model as each other, for 1 to 4 ranks, with and without windows.
func TestMPIRun(t *testing.T) {
	mpirun, exe := program(t)
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(400))
	for _, window := range []string{"none", "20"} {
		var first []byte
		for n := 1; n <= 4; n++ {
			ctx, stop := context.WithTimeout(context.Background(), 2*timeout)
			defer stop()
			model := filepath.Join(dir, fmt.Sprintf("m%d.safetensors", n))
			cmd, stdout, stderr := launch(ctx, mpirun, exe, n, "fit", data, "--x", "t", "--y", "y1,y2", "--window", window, "--components", "4",
				"--iterations", "20", "-o", model, "--json")
			if err := cmd.Run(); err != nil {
				t.Fatalf("window %s, %d ranks: %v\n%s", window, n, err, stderr)
			}
			if r := decode[printed](t, stdout.String()); r.Ranks == nil || r.Ranks.Size != n {
				t.Errorf("window %s, %d ranks: printed %s", window, n, stdout)
			}
			got := testkit.Read(t, model)
			if n == 1 {
				first = got
			} else if !bytes.Equal(got, first) {
				t.Errorf("window %s, %d ranks: a different model than one rank's", window, n)
			}
		}
	}
}

// TestMPIRunMistakes checks that bad input ends the job with exit code 2 and one message.
func TestMPIRunMistakes(t *testing.T) {
	mpirun, exe := program(t)
	ctx, stop := context.WithTimeout(context.Background(), timeout)
	defer stop()
	cmd, _, stderr := launch(ctx, mpirun, exe, 3, "fit", "none.csv", "-o", filepath.Join(t.TempDir(), "m.safetensors"))
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitMistake || len(vssgpLines(stderr.String())) != 1 {
		t.Errorf("%v, exit %d: %s", err, code, stderr)
	}
}

// fitting starts a long fit on n ranks and waits for its first checkpoint.
func fitting(t *testing.T, n int, mpirun, exe, dir string) (cmd *exec.Cmd, stderr *bytes.Buffer, pids []int) {
	t.Helper()
	data, part := testkit.Put(t, dir, "data.csv", waves(3000)), filepath.Join(dir, "part")
	ctx, stop := context.WithTimeout(context.Background(), 2*timeout)
	t.Cleanup(stop)
	cmd, _, stderr = launch(ctx, mpirun, exe, n, "fit", data, "--x", "t", "--y", "y1,y2", "--window", "none", "--components", "60",
		"--iterations", "100000", "--restarts", "1000", "-o", filepath.Join(dir, "m.safetensors"), "--checkpoint", part, "--every", "100ms")
	testkit.OK(t, cmd.Start())
	waitFor(t, part)
	if pids = childrenOf(cmd.Process.Pid); len(pids) != n {
		t.Fatalf("%d of %d ranks: %s", len(pids), n, stderr)
	}
	return cmd, stderr, pids
}

// childrenOf returns the child processes of a process.
func childrenOf(parent int) (pids []int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err != nil {
		return nil
	}
	for _, f := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(f); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestMPIRunKilled checks that the job ends if a rank is killed, and that one line names the rank and how to resume.
func TestMPIRunKilled(t *testing.T) {
	mpirun, exe := program(t)
	cmd, stderr, pids := fitting(t, 3, mpirun, exe, t.TempDir())
	testkit.OK(t, syscall.Kill(pids[len(pids)-1], syscall.SIGKILL))
	err := cmd.Wait()
	lines := vssgpLines(stderr.String())
	if err == nil || len(lines) != 1 || !strings.Contains(lines[0], fmt.Sprintf("of 3 (process %d)", pids[len(pids)-1])) ||
		!strings.Contains(lines[0], "--resume") {
		t.Errorf("%v: %s", err, stderr)
	}
}

// TestMPIRunInterrupted checks that a signal to mpirun saves the model and ends with 130.
func TestMPIRunInterrupted(t *testing.T) {
	mpirun, exe := program(t)
	dir := t.TempDir()
	cmd, stderr, _ := fitting(t, 2, mpirun, exe, dir)
	testkit.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	err := cmd.Wait()
	lines := vssgpLines(stderr.String())
	if len(lines) != 1 || !strings.Contains(lines[0], "interrupted") {
		t.Errorf("%v: %s", err, stderr)
	}
	for _, name := range []string{"m.safetensors", "part"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%v: %s", err, stderr)
		}
	}
	t.Logf("mpirun ended with %v", err)
}

// TestMPIRunResumed checks that a fit with a killed rank can be resumed on fewer ranks and gives the file of an undisturbed fit.
func TestMPIRunResumed(t *testing.T) {
	mpirun, exe := program(t)
	dir := t.TempDir()
	whole, model, part := filepath.Join(dir, "whole.safetensors"), filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "part")
	fit := func(n int, more ...string) *exec.Cmd {
		ctx, stop := context.WithTimeout(context.Background(), 2*timeout)
		t.Cleanup(stop)
		cmd, _, _ := launch(ctx, mpirun, exe, n, append([]string{"fit", "../../testdata/co2_monthly.csv", "--init", "paper", "--lengthscales",
			"1,50", "--periods", "1,0", "--features", "100", "--iterations", "150", "--seed", "3"}, more...)...)
		return cmd
	}
	testkit.OK(t, fit(1, "-o", whole).Run())
	cmd := fit(3, "-o", model, "--checkpoint", part, "--every", "100ms")
	testkit.OK(t, cmd.Start())
	waitFor(t, part)
	pids := childrenOf(cmd.Process.Pid)
	if len(pids) != 3 {
		t.Fatalf("%d ranks, want 3: the fit ended before it was disturbed", len(pids))
	}
	testkit.OK(t, syscall.Kill(pids[1], syscall.SIGKILL))
	if err := cmd.Wait(); err == nil {
		t.Fatal("the job succeeded without one of its ranks")
	}
	if _, err := os.Stat(model); err == nil {
		t.Fatal("a model was written")
	}
	testkit.OK(t, fit(2, "-o", model, "--checkpoint", part, "--resume").Run())
	want := testkit.Read(t, whole)
	if got, err := os.ReadFile(model); err != nil || !bytes.Equal(got, want) {
		t.Errorf("a different model than without the loss (%v)", err)
	}
}
