package fileio

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

var errHalfway = errors.New("halfway")

// content returns a function that writes s.
func content(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// halfway writes more than the buffer's size and then fails.
func halfway(w io.Writer) error {
	if _, err := w.Write(bytes.Repeat([]byte("half "), 1<<16)); err != nil {
		return err
	}
	return errHalfway
}

// checkFolder fails the test unless the folder contains exactly these files, as pairs of name and content.
func checkFolder(t *testing.T, folder string, want ...string) {
	t.Helper()
	got, all := map[string]string{}, map[string]string{}
	for _, e := range testkit.Must(os.ReadDir(folder))(t) {
		got[e.Name()] = string(testkit.Read(t, filepath.Join(folder, e.Name())))
	}
	for pair := range slices.Chunk(want, 2) {
		all[pair[0]] = pair[1]
	}
	if !maps.Equal(got, all) {
		t.Errorf("%s has %.40q, want %.40q", folder, got, all)
	}
}

// put creates a file.
func put(t *testing.T, path, s string, mode fs.FileMode) {
	t.Helper()
	testkit.OK(t, os.WriteFile(path, []byte(s), mode))
	testkit.OK(t, os.Chmod(path, mode))
}

func TestWriteReplacesWholeFiles(t *testing.T) {
	d := t.TempDir()
	a := filepath.Join(d, "a")
	long := strings.Repeat("long ", 1<<16)
	for _, s := range []string{"", "first", long} {
		testkit.OK(t, Write(a, content(s)))
		checkFolder(t, d, "a", s)
	}
	name := strings.Repeat("n", 250) // too long for a temporary name that contains all of it
	testkit.OK(t, Write(filepath.Join(d, name), content("x")))
	checkFolder(t, d, "a", long, name, "x")
}

func TestWriteFailureKeepsOldFile(t *testing.T) {
	for _, old := range []bool{false, true} {
		d := t.TempDir()
		a := filepath.Join(d, "a")
		var want []string
		if old {
			put(t, a, "old", 0o644)
			want = []string{"a", "old"}
		}
		testkit.Fails(t, Write(a, halfway), errHalfway, a)
		checkFolder(t, d, want...)

		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			Write(a, func(w io.Writer) error { halfway(w); panic("a defect") })
		}()
		checkFolder(t, d, want...)
	}
}

// TestWriteAllTogether checks that no target changes before the last function has succeeded.
func TestWriteAllTogether(t *testing.T) {
	d := t.TempDir()
	a, b := filepath.Join(d, "a"), filepath.Join(d, "b")
	put(t, a, "old", 0o644)
	err := WriteAll(File{a, content("new a")}, File{b, func(w io.Writer) error {
		if got, _ := os.ReadFile(a); string(got) != "old" {
			t.Errorf("a is %q while b is still being written", got)
		}
		return halfway(w)
	}})
	testkit.Fails(t, err, errHalfway, "")
	checkFolder(t, d, "a", "old")

	testkit.OK(t, WriteAll(File{a, content("new a")}, File{b, content("new b")}))
	checkFolder(t, d, "a", "new a", "b", "new b")
}

// TestFailedRename checks that a failed rename leaves no temporary files. It fails because the target becomes a directory.
func TestFailedRename(t *testing.T) {
	d := t.TempDir()
	a, b, c := filepath.Join(d, "a"), filepath.Join(d, "b"), filepath.Join(d, "c")
	put(t, a, "old", 0o600)
	err := WriteAll(File{a, content("new a")}, File{b, func(w io.Writer) error { return os.Mkdir(b, 0o777) }}, File{c, content("new c")})
	if err == nil || !strings.Contains(err.Error(), b) {
		t.Errorf("error %v, want one that names %s", err, b)
	}
	testkit.OK(t, os.Remove(b))
	checkFolder(t, d, "a", "new a")
}

func TestModeOfReplacedFileIsKept(t *testing.T) {
	d := t.TempDir()
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o755} {
		p := filepath.Join(d, "old"+mode.String())
		put(t, p, "old", mode)
		testkit.OK(t, Write(p, content("new")))
		if info, _ := os.Stat(p); info.Mode() != mode {
			t.Errorf("mode %v became %v", mode, info.Mode())
		}
	}
	plain, ours := filepath.Join(d, "plain"), filepath.Join(d, "ours")
	f := testkit.Must(os.Create(plain))(t)
	f.Close()
	testkit.OK(t, Write(ours, content("x")))
	want, _ := os.Stat(plain)
	if got, _ := os.Stat(ours); got.Mode() != want.Mode() {
		t.Errorf("a new file has mode %v, os.Create gives %v", got.Mode(), want.Mode())
	}
}

func TestSymlink(t *testing.T) {
	d := t.TempDir()
	sub := filepath.Join(d, "sub", "deep")
	testkit.OK(t, os.MkdirAll(sub, 0o777))
	put(t, filepath.Join(sub, "real"), "old", 0o600)
	links := map[string]string{
		"link":     filepath.Join("sub", "deep", "real"),
		"absolute": filepath.Join(sub, "real"),
		"chain":    "link",
		"folder":   filepath.Join("sub", "deep"),
		"up":       filepath.Join("sub", "deep") + "/../deep/real",
		"dangling": filepath.Join("folder") + "/../fresh", // folder/.. is sub, not d
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(d, name)); err != nil {
			t.Skip("this file system has no symbolic links: ", err)
		}
	}
	for _, name := range []string{"link", "absolute", "chain", "up", filepath.Join("folder", "real")} {
		testkit.OK(t, Write(filepath.Join(d, name), content(name)))
		checkFolder(t, sub, "real", name)
		if to, ok := links[name]; ok {
			if got, err := os.Readlink(filepath.Join(d, name)); got != to {
				t.Errorf("the link %s points to %q (%v), want %q", name, got, err, to)
			}
		}
	}
	testkit.OK(t, Write(filepath.Join(d, "dangling"), content("made")))
	if got, err := os.ReadFile(filepath.Join(d, "sub", "fresh")); string(got) != "made" {
		t.Errorf("the target of the dangling link contains %q, %v", got, err)
	}
}

func TestBadTargets(t *testing.T) {
	d := t.TempDir()
	put(t, filepath.Join(d, "file"), "x", 0o644)
	os.Symlink("loop", filepath.Join(d, "loop"))
	for name, c := range map[string]struct {
		path, says string
		cause      error
	}{
		"missing folder":     {filepath.Join(d, "none", "a"), "cannot use folder", fs.ErrNotExist},
		"file as a folder":   {filepath.Join(d, "file", "a"), "file", nil},
		"directory":          {d, "directory", nil},
		"slash at the end":   {d + "/", "does not name a file", nil},
		"dots":               {d + "/..", "does not name a file", nil},
		"empty":              {"", "does not name a file", nil},
		"loop":               {filepath.Join(d, "loop"), "symbolic links", nil},
		"name too long":      {filepath.Join(d, strings.Repeat("n", 300)), "name too long", nil},
		"folder of the fd's": {"/dev/fd/none", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			good := filepath.Join(d, "good")
			called := false
			fn := func(io.Writer) error { called = true; return nil }
			for what, err := range map[string]error{
				"WriteAll": WriteAll(File{good, fn}, File{c.path, fn}),
				"Check":    Check(good, c.path),
			} {
				testkit.Fails(t, err, ErrTarget, c.says, what)
				testkit.Fails(t, err, cmp.Or(c.cause, ErrTarget), c.path, what)
			}
			if called {
				t.Error("the functions ran although a target was bad")
			}
		})
	}
	os.Remove(filepath.Join(d, "loop"))
	checkFolder(t, d, "file", "x")
}

func TestCheckLeavesNothing(t *testing.T) {
	d := t.TempDir()
	a := filepath.Join(d, "a")
	put(t, a, "old", 0o600)
	before, _ := os.Stat(a)
	testkit.OK(t, Check(a, filepath.Join(d, "b")))
	checkFolder(t, d, "a", "old")
	if after, _ := os.Stat(a); !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Error("Check changed the file")
	}
}

func TestOpenRegular(t *testing.T) {
	d := t.TempDir()
	put(t, filepath.Join(d, "a"), "12345", 0o644)
	f, n, err := OpenRegular(filepath.Join(d, "a"))
	if err != nil || n != 5 {
		t.Fatalf("size %d, error %v; want 5, nil", n, err)
	}
	f.Close()
	for path, want := range map[string]error{d: ErrNotRegular, os.DevNull: ErrNotRegular, filepath.Join(d, "none"): fs.ErrNotExist} {
		_, _, err := OpenRegular(path)
		testkit.Fails(t, err, want, path)
	}
}

// TestLargeOutputIsSpooled checks that large output is stored in a file.
func TestLargeOutputIsSpooled(t *testing.T) {
	s := &Spool{}
	defer s.Close()
	var want, got bytes.Buffer
	for i := range 2*spoolMemory/(1<<20) + 1 {
		part := bytes.Repeat([]byte{byte(i)}, 1<<20)
		want.Write(part)
		testkit.Must(s.Write(part))(t)
	}
	if s.file == nil || s.b.Len() > spoolMemory {
		t.Errorf("%d bytes in memory", s.b.Len())
	}
	if err := s.CopyTo(&got); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%v; %d bytes of %d", err, got.Len(), want.Len())
	}
}
