package repocheck

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// root is the root of the repository.
const root = "../../.."

// sources returns the repository's files with the given endings, relative to the root.
func sources(t *testing.T, endings ...string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") && name != ".ci" || strings.HasPrefix(name, "_") || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains(endings, filepath.Ext(name)) {
			rel, err := filepath.Rel(root, path)
			paths = append(paths, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	testkit.OK(t, err)
	return paths
}

var (
	// comment matches the comment of a line in Go, C++ and shell.
	comment = regexp.MustCompile(`(?:^|\s)(?://|#)\s(.*)$`)
	// named matches a file name with a known extension.
	named = regexp.MustCompile(`[\w./-]*\w\.(?:go|cu|cuh|cpp|sh|py|md|jsonl|ptx)\b`)
)

// TestFileNames checks that the files named in comments exist: relative to the root, relative to
// the comment's folder, or with that name in any folder.
func TestFileNames(t *testing.T) {
	paths := sources(t, ".go", ".cu", ".cuh", ".cpp", ".c", ".h", ".sh", ".py", ".md", ".jsonl", ".ptx", ".js", ".css", ".s")
	base := map[string]bool{}
	for _, p := range paths {
		base[filepath.Base(p)] = true
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return err == nil
	}
	looked := 0
	for _, path := range paths {
		if !slices.Contains([]string{".go", ".cu", ".cuh", ".cpp", ".sh", ".py"}, filepath.Ext(path)) {
			continue
		}
		text := testkit.Must(os.ReadFile(filepath.Join(root, path)))(t)
		for i, line := range strings.Split(string(text), "\n") {
			match := comment.FindStringSubmatch(line)
			if match == nil {
				continue
			}
			for _, name := range named.FindAllString(match[1], -1) {
				looked++
				clean := strings.TrimPrefix(name, "./")
				if !base[clean] && !there(clean) && !there(filepath.Join(filepath.Dir(path), clean)) && !outside(match[1], name) {
					t.Errorf("%s:%d: the comment names %s, which does not exist", path, i+1, name)
				}
			}
		}
	}
	if looked == 0 {
		t.Error("no comment names a file: the pattern may be wrong")
	}
}

// outside reports whether a name does not refer to a file of the repository: it is quoted,
// capitalized as in a synopsis, or has an absolute path.
func outside(comment, name string) bool {
	return strings.Contains(comment, `"`+name+`"`) || strings.ToUpper(name[:1]) == name[:1] || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "http")
}
