package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestFailingFiles lets each operation on a file fail in turn. The command must fail with the name of the file, and
// every output must have its old content or be missing if there was none. After the first rename, outputs are old or
// new, and no other files are left.
func TestFailingFiles(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("t,y\n")
	for i := range 30 {
		fmt.Fprintf(&rows, "%d,%.2f\n", i, math.Sin(float64(i)))
	}
	inputs := map[string]string{"d.csv": rows.String(), "in.wav": string(wav(8000, 1, tone(400, 8000)))}
	for _, c := range []struct {
		args    string
		outputs []string
	}{
		{"forecast d.csv --season none --trend none --short-memory=false --horizon 2 -o o.csv -m m.st",
			[]string{"o.csv", "m.st"}},
		{"repair in.wav --gap 100:120 --method ar -o o.wav --sd o.csv --labels l.txt", []string{"o.wav", "o.csv", "l.txt"}},
		{"fit d.csv --features 2 --components 1 --iterations 2 --checkpoint c --every 1ns --resume -o m.st",
			[]string{"m.st"}},
		{"fit d.csv --features 2 --components 1 --iterations 2 --checkpoint c --every 1ns -o m.st", []string{"m.st"}},
	}[:slow.Pick(4, 3)] {
		for _, old := range []string{"old", ""}[:slow.Pick(2, 1)] {
			for n, done := 1, false; !done; n++ {
				dir := t.TempDir()
				t.Chdir(dir)
				for name, text := range inputs {
					testkit.Put(t, dir, name, text)
				}
				for _, name := range c.outputs {
					if old != "" {
						testkit.Put(t, dir, name, old)
					}
				}
				if strings.Contains(c.args, "--resume") {
					succeed(t, strings.Fields("fit d.csv --features 2 --components 1 --iterations 2 --checkpoint c --every "+
						"1ns -o first.st")...)
				}
				before := contents(t, dir)
				calls, failed := 0, ""
				fileio.Fail = func(operation, path string) error {
					if calls++; calls != n {
						return nil
					}
					failed = operation + " " + filepath.Base(path)
					return errors.New("simulated")
				}
				o := vssgpRun(t, strings.Fields(c.args)...)
				fileio.Fail = nil
				after := contents(t, dir)
				what := fmt.Sprintf("%s, old %q, operation %d (%s)", c.args, old, n, failed)
				done = failed == ""
				checkpointFailed := strings.HasSuffix(failed, " c")
				delete(before, "c")
				delete(after, "c")
				switch whole := len(after) == len(before)+map[string]int{"": len(c.outputs)}[old]; {
				case failed != "" && !strings.Contains(o.stderr, failed[strings.LastIndex(failed, " ")+1:]):
					t.Errorf("%s: exit %d, %s", what, o.code, o.stderr)
				case strings.HasPrefix(failed, "rename") && !checkpointFailed:
					maps.DeleteFunc(after, func(name, _ string) bool { return slices.Contains(c.outputs, name) })
					maps.DeleteFunc(before, func(name, _ string) bool { return slices.Contains(c.outputs, name) })
					if o.code == cli.ExitDone || !maps.Equal(before, after) {
						t.Errorf("%s: exit %d, %s; files %v", what, o.code, o.stderr, len(after))
					}
				case strings.HasPrefix(failed, "sync folder") && o.code != cli.ExitDone,
					o.code == cli.ExitDone && (done || checkpointFailed):
					for _, name := range c.outputs {
						if !whole || after[name] == "old" || after[name] == "" {
							t.Errorf("%s: %s is not new: exit %d, %s", what, name, o.code, o.stderr)
						}
					}
				case o.code == cli.ExitDone || strings.Count(o.stderr, "vssgp: ") < 1 || !maps.Equal(before, after):
					t.Errorf("%s: exit %d, %s; files %v", what, o.code, o.stderr, len(after))
				}
				if strings.Contains(c.args, "--checkpoint") && !done { // the remaining checkpoint is valid
					succeed(t, append(strings.Fields(c.args), "--resume")...)
				}
				if n > 200 {
					t.Fatal(what)
				}
			}
		}
	}
}

// contents returns the contents of the files in a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, e := range testkit.Must(os.ReadDir(dir))(t) {
		all[e.Name()] = string(testkit.Read(t, filepath.Join(dir, e.Name())))
	}
	return all
}
