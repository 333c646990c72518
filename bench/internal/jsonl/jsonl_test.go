package jsonl

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

type line struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
}

// TestStoredLinesAreReadBack checks that written and appended lines are read back, that a truncated last line is ignored, and that the
// error of an invalid line contains its number.
func TestStoredLinesAreReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if lines, err := Read[line](path, nil); err != nil || lines != nil {
		t.Errorf("missing file: %v, %v", lines, err)
	}
	want := []line{{"a", 1}, {"b", 2}, {"<c>", 3}}
	testkit.OK(t, errors.Join(Write(path, want[:2]), Append(path, want[2])))
	named := func(l *line) error {
		if l.Name == "" {
			return errors.New("no name")
		}
		return nil
	}
	if got, err := Read(path, named); err != nil || !slices.Equal(got, want) {
		t.Errorf("read back %v, %v", got, err)
	}
	text := testkit.Must(os.ReadFile(path))(t)
	if got, err := Parse(text[:len(text)-1], named); err != nil || !slices.Equal(got, want[:2]) {
		t.Errorf("truncated: %v, %v", got, err)
	}
	for _, bad := range []string{"{}\n", "{\n", "[]\n"} {
		testkit.OK(t, os.WriteFile(path, []byte("{\"name\":\"a\"}\n\n"+bad), 0o666))
		if _, err := Read(path, named); err == nil || !strings.Contains(err.Error(), path+": line 3: ") {
			t.Errorf("%q: error %v, want an error in line 3", bad, err)
		}
	}
}

// TestPacked checks that Read reads the compressed file, unless the file itself exists.
func TestPacked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "{\"name\":\"a\",\"value\":1}\n")
	z.Close()
	for text, want := range map[string]string{packed.String(): "", packed.String()[:packed.Len()-9]: "unexpected EOF", "{\"name\":\"a\"}\n": "invalid header"} {
		testkit.OK(t, os.WriteFile(path+".gz", []byte(text), 0o666))
		lines, err := Read[line](path, nil)
		switch {
		case want == "" && (err != nil || !slices.Equal(lines, []line{{"a", 1}})):
			t.Errorf("compressed: %v, %v", lines, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path+".gz")):
			t.Errorf("error %v, want the path and %q", err, want)
		}
	}
	testkit.OK(t, Write(path, []line{{"b", 2}}))
	if lines, err := Read[line](path, nil); err != nil || !slices.Equal(lines, []line{{"b", 2}}) {
		t.Errorf("file next to the compressed file: %v, %v", lines, err)
	}
}

// TestPutReplacesSameKey checks that a line replaces the line with the same key.
func TestPutReplacesSameKey(t *testing.T) {
	name := func(l line) string { return l.Name }
	lines := Put([]line{{"a", 1}, {"b", 2}}, line{"b", 3}, name)
	if lines = Put(lines, line{"c", 4}, name); !slices.Equal(lines, []line{{"a", 1}, {"b", 3}, {"c", 4}}) {
		t.Errorf("%v", lines)
	}
}

// TestGroups checks that lines are grouped by key, with keys and lines in order of appearance.
func TestGroups(t *testing.T) {
	lines := []line{{"b", 1}, {"a", 2}, {"b", 3}}
	got := Groups(lines, func(l line) string { return l.Name })
	if len(got) != 2 || !slices.Equal(got[0], []line{{"b", 1}, {"b", 3}}) || !slices.Equal(got[1], lines[1:2]) {
		t.Errorf("%v", got)
	}
}
