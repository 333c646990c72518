package repocheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

var (
	required = regexp.MustCompile(`(?m)^(?:require )?\s*([\w.~-]+\.[a-z]+/\S+) (v\d\S*)`)
	listed   = regexp.MustCompile(`(?m)^\| (\S+) \| (v\d\S*) \| ([^|]+) \| ([^|]+) \|$`)
)

// TestThirdParty checks that THIRD_PARTY.md lists exactly the requirements of the go.mod files,
// with version and license.
func TestThirdParty(t *testing.T) {
	want := map[string]string{}
	for _, path := range []string{"go.mod", "internal/simd/asm/go.mod"} {
		for _, m := range required.FindAllStringSubmatch(readText(t, path), -1) {
			want[m[1]] = m[2]
		}
	}
	if len(want) < 20 {
		t.Fatalf("only %d modules found in the go.mod files", len(want))
	}
	page := readText(t, "THIRD_PARTY.md")
	got := map[string]bool{}
	for _, m := range listed.FindAllStringSubmatch(page, -1) {
		if got[m[1]] {
			t.Errorf("THIRD_PARTY.md lists %s twice", m[1])
		}
		got[m[1]] = true
		testkit.Equal(t, m[2], want[m[1]], "THIRD_PARTY.md has ", m[1])
	}
	for m, v := range want {
		if !got[m] {
			t.Errorf("THIRD_PARTY.md does not list %s %s: add its license and the binaries that contain it", m, v)
		}
	}
	if !strings.Contains(page, "cgoflags.go") || !strings.Contains(page, "GPL-like") {
		t.Error("THIRD_PARTY.md does not contain the warning about gorgonia.org/cu")
	}
}

// TestThirdPartyLinked checks that the commands of a release are linked from the modules that the page lists. So they
// contain no code of tensors, and only the build with -tags cuda contains gorgonia.org/cu.
func TestThirdPartyLinked(t *testing.T) {
	for _, build := range []struct{ system, tags, also string }{
		{"linux", "", ""}, {"darwin", "", ""}, {"windows", "", "the command, on Windows"}, {"linux", "cuda", "`-tags cuda`"},
	} {
		list := exec.Command("go", "list", "-tags", build.tags, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/vssgp")
		list.Env = append(os.Environ(), "GOOS="+build.system, "GOARCH=amd64", "CGO_ENABLED=1")
		list.Dir = root
		linked := map[string]bool{}
		for m := range strings.FieldsSeq(string(testkit.Must(list.Output())(t))) {
			linked[m] = true
		}
		for _, m := range listed.FindAllStringSubmatch(readText(t, "THIRD_PARTY.md"), -1) {
			in := strings.TrimSpace(m[4])
			lists := in == "all" || in == "the command" || build.also != "" && strings.Contains(in, build.also)
			if lists != linked[m[1]] {
				t.Errorf("THIRD_PARTY.md lists %s in %q; the command for %v is linked from it: %v", m[1], in, build, linked[m[1]])
			}
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	return string(testkit.Read(t, filepath.Join(root, path)))
}
