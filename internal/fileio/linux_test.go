//go:build linux

package fileio

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/testkit"
)

// asNobody runs fn without root's permissions.
func asNobody(t *testing.T, fn func()) {
	if os.Geteuid() != 0 {
		fn()
		return
	}
	const nobody = 65534
	if err := syscall.Setresuid(-1, nobody, -1); err != nil {
		t.Skip("cannot drop root's permissions: ", err)
	}
	defer func() {
		if err := syscall.Setresuid(-1, 0, -1); err != nil {
			panic(err)
		}
	}()
	fn()
}

func TestReadOnly(t *testing.T) {
	d := testkit.Must(os.MkdirTemp("", "fileio"))(t)
	defer os.RemoveAll(d)
	locked, open := filepath.Join(d, "locked"), filepath.Join(d, "open")
	for _, p := range []string{locked, open} {
		testkit.OK(t, os.Mkdir(p, 0o777))
		put(t, filepath.Join(p, "protected"), "old", 0o444)
	}
	for p, mode := range map[string]fs.FileMode{d: 0o755, locked: 0o555, open: 0o777} {
		testkit.OK(t, os.Chmod(p, mode))
	}
	asNobody(t, func() {
		for _, p := range []string{filepath.Join(locked, "new"), filepath.Join(open, "protected")} {
			for what, err := range map[string]error{"Write": Write(p, content("x")), "Check": Check(p)} {
				testkit.Fails(t, err, ErrTarget, p, what)
				testkit.Fails(t, err, fs.ErrPermission, p, what)
			}
		}
	})
	os.Chmod(locked, 0o777)
	checkFolder(t, locked, "protected", "old")
	checkFolder(t, open, "protected", "old")
}

func TestPipeIsWrittenDirectly(t *testing.T) {
	d := t.TempDir()
	p, a := filepath.Join(d, "pipe"), filepath.Join(d, "a")
	testkit.OK(t, syscall.Mkfifo(p, 0o666))
	if err := Check(p); err != nil { // must not wait for a reader
		t.Fatal(err)
	}
	got := make(chan string, 1)
	read := func() {
		s, _ := os.ReadFile(p)
		got <- string(s)
	}
	go read()
	testkit.OK(t, WriteAll(File{p, content("through")}, File{a, content("file")}))
	select {
	case s := <-got:
		testkit.Equal(t, s, "through", "the pipe's reader received")
	case <-time.After(time.Minute):
		t.Fatal("the pipe's reader received nothing")
	}
	if info, _ := os.Lstat(p); info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe became %v", info.Mode())
	}
	if _, _, err := OpenRegular(p); !errors.Is(err, ErrNotRegular) { // also without waiting
		t.Errorf("OpenRegular: %v, want ErrNotRegular", err)
	}
	os.Remove(p)
	checkFolder(t, d, "a", "file")
}

func TestDevNull(t *testing.T) {
	testkit.OK(t, Write("/dev/null", content("x")))
	if info, _ := os.Stat("/dev/null"); info.Mode()&fs.ModeCharDevice == 0 {
		t.Fatalf("/dev/null became %v", info.Mode())
	}
	testkit.Fails(t, Write("/dev/full", content("x")), syscall.ENOSPC, "", "/dev/full")
}

// TestStdout runs this test binary as a program that writes to /dev/stdout.
func TestStdout(t *testing.T) {
	if a := os.Getenv("FILEIO_STDOUT"); a != "" {
		os.Stdout.WriteString("before ")
		if err := WriteAll(File{a, content("file")}, File{"/dev/stdout", func(w io.Writer) error {
			return content(strings.Repeat("through ", 1<<15))(w)
		}}); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(3)
		}
		os.Stdout.WriteString("after")
		os.Exit(0)
	}
	d := t.TempDir()
	a := filepath.Join(d, "a")
	program := func() *exec.Cmd {
		c := exec.Command(os.Args[0], "-test.run=^TestStdout$")
		c.Env = append(os.Environ(), "FILEIO_STDOUT="+a)
		return c
	}
	want := "before " + strings.Repeat("through ", 1<<15) + "after"
	if got, err := program().Output(); err != nil || string(got) != want {
		t.Errorf("into a pipe: %.60q, %v", got, err)
	}
	out := testkit.Must(os.Create(filepath.Join(d, "out")))(t)
	defer out.Close()
	c := program()
	c.Stdout = out
	if err := c.Run(); err != nil {
		t.Error(err)
	}
	checkFolder(t, d, "a", "file", "out", want)
}
