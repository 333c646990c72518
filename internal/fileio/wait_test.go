//go:build linux

package fileio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestUnread: a pipe that nobody opens, or that its reader leaves full, is given up grace after the context has ended, and the other
// outputs are not written.
func TestUnread(t *testing.T) {
	for _, opened := range []bool{false, true} {
		d := t.TempDir()
		p, a := filepath.Join(d, "pipe"), filepath.Join(d, "a")
		testkit.OK(t, syscall.Mkfifo(p, 0o666))
		if opened {
			r := testkit.Must(os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0))(t)
			defer r.Close()
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- WriteAll(ctx, File{a, content("file")}, File{p, content(strings.Repeat("x", 1<<20))})
		}()
		select {
		case err := <-done:
			t.Fatalf("opened %v: it did not wait: %v", opened, err)
		case <-time.After(100 * time.Millisecond):
		}
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), p) || !strings.Contains(err.Error(), "nothing reads it") {
				t.Errorf("opened %v: %v; want the pipe, why, and context.Canceled", opened, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("opened %v: still waiting", opened)
		}
		os.Remove(p)
		holds(t, d)
	}
}

// TestGrace: what is written once the context has ended arrives where somebody reads it.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var b bytes.Buffer
		w := Until(ctx, &b)
		long := strings.Repeat("long ", 1<<16)
		for range 2 {
			testkit.OK(t, content(long)(w))
		}
		if b.String() != long+long {
			t.Errorf("%d bytes arrived of %d", b.Len(), 2*len(long))
		}
	})
}

// TestUntilEnds: after a write that was given up nothing more is written, so that no part can be missing between others.
func TestUntilEnds(t *testing.T) {
	r, w, err := os.Pipe()
	testkit.OK(t, err)
	defer r.Close()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		io.ReadFull(r, make([]byte, 1<<16+1)) // a first part is written
		cancel()
	}()
	u := Until(ctx, w)
	n, err := u.Write(make([]byte, 1<<20)) // a pipe holds less
	if !errors.Is(err, context.Canceled) || n < 1 || n >= 1<<20 {
		t.Fatalf("%d bytes, %v; want some and context.Canceled", n, err)
	}
	if m, again := u.Write([]byte("more")); m != 0 || again != err {
		t.Errorf("after that %d bytes, %v", m, again)
	}
}

// writerFunc is a Writer.
type writerFunc func(b []byte) (int, error)

func (w writerFunc) Write(b []byte) (int, error) { return w(b) }

// TestLeftBehind: all writes together have grace, not each; what one that was left behind still reads is what it was given, and what it
// still opens is closed.
func TestLeftBehind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	t.Run("slow", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := Until(ctx, writerFunc(func(b []byte) (int, error) { time.Sleep(grace / 4); return len(b), nil }))
			n, err := 0, error(nil)
			for ; n < 8 && err == nil; n++ {
				_, err = w.Write([]byte("slowly"))
			}
			testkit.Fails(t, err, context.Canceled, "", n, " writes of a quarter of grace each")
		})
	})
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		release, got := make(chan struct{}), make(chan string, 1)
		w := Until(ctx, writerFunc(func(b []byte) (int, error) { <-release; got <- string(b); return len(b), nil }))
		b := []byte("given")
		testkit.Fails(t, testkit.Error(w.Write(b)), context.Canceled, "")
		copy(b, "other")
		close(release)
		if text := <-got; text != "given" {
			t.Errorf("it wrote %q", text)
		}
	})
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		release, closed := make(chan struct{}), make(chan int, 1)
		_, err := await(&until{ctx: ctx}, func() (int, error) { <-release; return 7, nil }, func(v int) { closed <- v })
		testkit.Fails(t, err, context.Canceled, "")
		close(release)
		select {
		case v := <-closed:
			if v != 7 {
				t.Errorf("%v was closed", v)
			}
		case <-time.After(time.Minute):
			t.Error("what came late was not closed")
		}
	})
}

// TestSweepBareName runs this test binary as a program that is killed while it writes a file of its own folder.
func TestSweepBareName(t *testing.T) {
	if os.Getenv("FILEIO_KILLED") != "" {
		Write("out", func(io.Writer) error {
			os.Stdout.WriteString("writing")
			_, err := io.Copy(io.Discard, os.Stdin) // for as long as the test lives; the runtime ends a process in which nothing can run
			return err
		})
	}
	d := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run=^TestSweepBareName$")
	c.Env, c.Dir = append(os.Environ(), "FILEIO_KILLED=1"), d
	stdin, err1 := c.StdinPipe()
	stdout, err2 := c.StdoutPipe()
	testkit.OK(t, errors.Join(err1, err2, c.Start()))
	defer stdin.Close()
	testkit.Must(stdout.Read(make([]byte, 1)))(t)
	left, _ := filepath.Glob(filepath.Join(d, ".out.*.tmp"))
	if len(left) != 1 {
		t.Fatalf("the process writes to %v, want one file", left)
	}
	t.Chdir(d)
	if err := Check("out"); err != nil { // the process lives
		t.Fatal(err)
	}
	if _, err := os.Stat(left[0]); err != nil {
		t.Errorf("a live process's file was swept away: %v", err)
	}
	c.Process.Kill()
	c.Wait()
	if _, err := os.Stat(left[0]); err != nil {
		t.Fatalf("there is nothing to sweep: %v", err)
	}
	testkit.OK(t, Write("out", content("next")))
	holds(t, d, "out", "next")
}
