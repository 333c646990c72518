//go:build unix

package fileio

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestLockIsExclusive(t *testing.T) {
	d := t.TempDir()
	path := filepath.Join(d, "file")
	put(t, filepath.Join(d, ".file.lock"), "left by a killed process", 0o666)
	unlock := testkit.Must(Lock(path))(t)
	put(t, path, "there", 0o666)
	testkit.OK(t, os.Symlink(path, filepath.Join(d, "alias")))
	for _, name := range []string{path, filepath.Join(d, "alias"), d + "/./file"} {
		testkit.Fails(t, testkit.Error(Lock(name)), ErrLocked, "process", name)
	}
	unlock()
	checkFolder(t, d, "alias", "there", "file", "there")
	unlock = testkit.Must(Lock(path))(t)
	unlock()
	testkit.Fails(t, testkit.Error(Lock(filepath.Join(d, "nowhere", "file"))), ErrTarget, "")
}

// TestNamesOfOneFileAreSame checks that different names of one file are the same and that different files are not.
func TestNamesOfOneFileAreSame(t *testing.T) {
	d := t.TempDir()
	t.Chdir(d)
	put(t, "a", "a", 0o666)
	put(t, "b", "a", 0o666)
	err := errors.Join(os.Mkdir("folder", 0o777), os.Symlink("folder", "alias"), os.Symlink("a", "folder/../symbolic"),
		os.Link("a", "folder/hard"),
		os.Symlink("folder/new", "dangling"))
	testkit.OK(t, err)
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"a", "a", true}, {"a", "./a", true}, {"a", filepath.Join(d, "a"), true}, {"a", "folder/../a", true}, {"a", "symbolic", true},
		{"a", "folder/hard", true},
		{"symbolic", "alias/hard", true}, {"new", "./new", true}, {"new", filepath.Join(d, "new"), true}, {"folder/new", "alias/new", true},
		{"dangling", "alias/new", true},
		{"a", "b", false}, {"a", "new", false}, {"new", "newer", false}, {"new", "folder/new", false}, {"/dev/null", "/dev/null", false},
	} {
		p, err1 := TargetOf(c.one)
		q, err2 := TargetOf(c.other)
		if err1 != nil || err2 != nil || p.Same(q) != c.same || q.Same(p) != c.same {
			t.Errorf("%s and %s: %v, %v, the same: %v; want %v", c.one, c.other, err1, err2, p.Same(q), c.same)
		}
		err := WriteAll(File{c.one, content("x")}, File{c.other, content("y")})
		testkit.Equal(t, errors.Is(err, ErrTarget), c.same, c.one, " and ", c.other, ", written together")
		if c.same {
			continue
		}
		for _, name := range []string{"new", "newer", "folder/new"} {
			os.Remove(name)
		}
	}
	f := testkit.Must(os.Open("a"))(t)
	defer f.Close()
	open, err1 := TargetOfOpen(f)
	p, err2 := TargetOf("symbolic")
	if err1 != nil || err2 != nil || !open.Same(p) {
		t.Errorf("an open file and its name differ: %v, %v", err1, err2)
	}
}
