package safetensors

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/fileio/safetensors/pythontest"
	"github.com/vssgp/vssgp/internal/testkit"
)

var modules = []string{"numpy", "safetensors"}

// TestPythonReads checks that the format's Python library reads what Write writes: names, shapes,
// types and every bit.
func TestPythonReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ours.safetensors")
	testkit.OK(t, os.WriteFile(path, encode(t, sample()), 0o666))
	got := pythontest.Run(t, modules, `
import sys, numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file
a = load_file(sys.argv[1])
for k in sorted(a):
    print(ascii(k), a[k].dtype, a[k].shape, a[k].size if k == "long" else a[k].tobytes().hex())
i = np.arange(9001.)
assert np.array_equal(a["long"], np.sqrt(i) - 40)
with safe_open(sys.argv[1], "np") as f:
    for k, v in sorted(f.metadata().items()):
        print(ascii(k), ascii(v))
`, path)
	want := `'empty' float64 (0, 7) 
'long' float64 (9001,) 9001
'matrix' float64 (2, 3) 000000000000f03f00000000000000400000000000000840000000000000104000000000000014400000000000001840
'scalar' float64 () 182d4454fb210940
'values' float64 (6,) 010000000000f87f000000000000f07f000000000000f0ff0000000000000080ffffffffffffef7f0100000000000000
'\xe9 "<\n' float64 (1, 1) 000000000000f0bf
'format' 'vssgp/1'
'x.offset' '[0, 1.5]'
'\u03b1' '<"\\\x00>'
`
	if got != want {
		t.Errorf("Python reads\n%s\nwant\n%s", got, want)
	}
}

// TestPythonWrites checks that Read reads what the format's Python library writes.
func TestPythonWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "theirs.safetensors")
	pythontest.Run(t, modules, `
import sys, numpy as np
from safetensors.numpy import save_file
save_file({"a": np.arange(6.).reshape(2, 3), "single": np.float32([0.1, -2.5, np.inf]), "scalar": np.array(np.pi),
           "empty": np.zeros((3, 0)), "é": np.array([np.nan])}, sys.argv[1], metadata={"format": "vssgp/1", "β": "\"\n"})
`, path)
	got := testkit.Must(ReadFile(path))(t)
	same(t, got, &File{
		Tensors: map[string]Tensor{
			"a":      {[]int{2, 3}, []float64{0, 1, 2, 3, 4, 5}},
			"single": {[]int{3}, []float64{float64(float32(0.1)), -2.5, math.Inf(1)}},
			"scalar": {[]int{}, []float64{math.Pi}},
			"empty":  {[]int{3, 0}, nil},
			"é":      {[]int{1}, []float64{math.Float64frombits(0x7ff8000000000000)}},
		},
		Metadata: map[string]string{"format": "vssgp/1", "β": "\"\n"},
	})
}
