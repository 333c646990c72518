//go:build !cudaemu

package gpu

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestEmulatedAsCPU runs small cases of TestAsCPU in a build with the tag
// cudaemu, in which the kernels run on an emulated card. VSSGP_REQUIRE_CXX=1
// makes a missing C++ compiler a failure.
func TestEmulatedAsCPU(t *testing.T) {
	cxx, err := exec.Command("go", "env", "CXX").Output()
	if err == nil {
		_, err = exec.LookPath(append(strings.Fields(string(cxx)), "")[0])
	}
	switch {
	case err != nil && os.Getenv("VSSGP_REQUIRE_CXX") == "1":
		t.Fatalf("no C++ compiler, which compiles the kernels for an emulated card: %v", err)
	case err != nil:
		t.Skipf("no C++ compiler, which compiles the kernels for an emulated card: %v", err)
	}
	c := exec.Command("go", "test", "-v", "-tags", "cudaemu", "-run", "TestAsCPU/.*/(63_features|even_but_for_a_step,_windows|windows_without_features)$", ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=1", "VSSGP_REQUIRE_GPU=1")
	out, err := c.CombinedOutput()
	if passed := strings.Count(string(out), "--- PASS: TestAsCPU/"); err != nil || passed != 4 { // the card's and three cases
		t.Errorf("%d tests on an emulated card passed, expected 4: %v\n%s", passed, err, out)
	}
}
