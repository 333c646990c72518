//go:build linux && !cuda && !cudaemu

package gpu

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestEmulated runs small cases of TestRowsMatchCPU and TestTablesMatchCPU in a build with the tag cudaemu, in which the kernels run on an
// emulated GPU. It needs cgo and a C++ compiler. VSSGP_REQUIRE_TOOLS=1 makes a missing one a failure.
func TestEmulated(t *testing.T) {
	slow.Race(t)
	if why := cannotEmulate(); why != "" {
		if os.Getenv("VSSGP_REQUIRE_TOOLS") != "" {
			t.Fatal(why)
		}
		t.Skip(why + "; VSSGP_REQUIRE_TOOLS=1 makes this a failure")
	}
	for _, folder := range []string{"../cuda", "internal/emu", "../kernels"} { // the go command runs this again if they change
		testkit.Must(os.ReadDir(folder))(t)
	}
	c := exec.Command("go", "test", "-count=1", "-v", "-tags", "cudaemu", "-run",
		"^Test(Rows|Tables)MatchCPU$/.*/(63_features|even_but_for_a_step,_windows|windows_without_features|uneven,_steep|two_inputs)$", ".")
	c.Env = append(os.Environ(), "VSSGP_REQUIRE_GPU=1")
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	passed := strings.Count(string(out), "--- PASS: TestRowsMatchCPU/") + strings.Count(string(out), "--- PASS: TestTablesMatchCPU/")
	if err != nil || passed != 7 { // the GPU twice, three cases and two of tables
		t.Errorf("%d tests on an emulated GPU passed, expected 7: %v", passed, err)
	}
}

// cannotEmulate returns why the kernels cannot be compiled for an emulated GPU, or "" if they can.
func cannotEmulate() string {
	out, err := exec.Command("go", "env", "CGO_ENABLED", "CXX").Output()
	enabled, cxx, _ := strings.Cut(string(out), "\n")
	switch {
	case err != nil:
		return "no go command: " + err.Error()
	case enabled != "1":
		return "cgo is off (CGO_ENABLED=" + enabled + "), so the kernels cannot be compiled for an emulated GPU"
	}
	compiler := append(strings.Fields(cxx), "")[0]
	if _, err := exec.LookPath(compiler); err != nil {
		return "no C++ compiler to compile the kernels for an emulated GPU: " + err.Error()
	}
	return ""
}
