// Package pythontest runs Python scripts in tests, to compare with independent readers and writers of file formats.
package pythontest

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Run runs a Python script and returns its output; the script finds args in sys.argv[1:]. If python3 cannot import the modules, the test
// is skipped, or fails if VSSGP_REQUIRE_PYTHON=1. The test fails if the script fails.
func Run(t testing.TB, modules []string, script string, args ...string) string {
	t.Helper()
	if out, err := exec.Command("python3", "-c", "import "+strings.Join(modules, ", ")).CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		reason := "python3 cannot import " + strings.Join(modules, ", ") + " (" + err.Error() + " " + lines[len(lines)-1] +
			"); to run this test: pip install " + strings.Join(modules, " ")
		if os.Getenv("VSSGP_REQUIRE_PYTHON") == "1" {
			t.Fatal("VSSGP_REQUIRE_PYTHON=1, but " + reason)
		}
		t.Skip(reason)
	}
	cmd := exec.Command("python3", append([]string{"-c", script}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, stderr.String())
	}
	return string(out)
}
