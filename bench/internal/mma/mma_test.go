package mma

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestSourceHasVariants compiles mma.cu with nvcc.
func TestSourceHasVariants(t *testing.T) {
	if _, err := exec.LookPath("nvcc"); err != nil {
		if os.Getenv("VSSGP_REQUIRE_NVCC") == "1" {
			t.Fatal(err)
		}
		t.Skip("no nvcc in PATH; VSSGP_REQUIRE_NVCC=1 makes this a failure")
	}
	ptx := filepath.Join(t.TempDir(), "mma.ptx")
	c := exec.Command("nvcc", "-ptx", "-std=c++17", "-arch=compute_90", "mma.cu", "-o", ptx)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text := string(testkit.Must(os.ReadFile(ptx))(t))
	for _, r := range variants() {
		if !strings.Contains(text, ".entry "+r.kernel()+"(") {
			t.Errorf("no kernel %s", r.kernel())
		}
	}
	testkit.Equal(t, strings.Count(text, ".entry "), len(variants()), "kernels")
}
