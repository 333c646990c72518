//go:build unix

package fileio

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestSame: one file is one however it is spelled, and two are two.
func TestSame(t *testing.T) {
	d := t.TempDir()
	t.Chdir(d)
	put(t, "a", "a", 0o666)
	put(t, "b", "a", 0o666)
	err := errors.Join(os.Mkdir("folder", 0o777), os.Symlink("folder", "alias"), os.Symlink("a", "folder/../symbolic"), os.Link("a", "folder/hard"),
		os.Symlink("folder/new", "dangling"))
	testkit.OK(t, err)
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"a", "a", true}, {"a", "./a", true}, {"a", filepath.Join(d, "a"), true}, {"a", "folder/../a", true}, {"a", "symbolic", true}, {"a", "folder/hard", true},
		{"symbolic", "alias/hard", true}, {"new", "./new", true}, {"new", filepath.Join(d, "new"), true}, {"folder/new", "alias/new", true}, {"dangling", "alias/new", true},
		{"a", "b", false}, {"a", "new", false}, {"new", "newer", false}, {"new", "folder/new", false}, {"/dev/null", "/dev/null", false},
	} {
		p, err1 := PlaceOf(c.one)
		q, err2 := PlaceOf(c.other)
		if err1 != nil || err2 != nil || p.Same(q) != c.same || q.Same(p) != c.same {
			t.Errorf("%s and %s: %v, %v, the same: %v; want %v", c.one, c.other, err1, err2, p.Same(q), c.same)
		}
		err := WriteAll(context.Background(), File{c.one, content("x")}, File{c.other, content("y")})
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
	open, err1 := PlaceOfOpen(f)
	p, err2 := PlaceOf("symbolic")
	if err1 != nil || err2 != nil || !open.Same(p) {
		t.Errorf("an open file is not its own name: %v, %v", err1, err2)
	}
}
