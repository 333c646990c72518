package table

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/fileio/safetensors/pythontest"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestPythonReads checks that NumPy reads files written by this package.
func TestPythonReads(t *testing.T) {
	d := t.TempDir()
	data := []float64{1, -0.1, 1e150, 5e-324, 1.0 / 3, 6}
	for name, write := range map[string]func(*os.File) error{
		"a.npy": func(f *os.File) error { return WriteNPY(f, []int{3, 2}, data) },
		"b.npy": func(f *os.File) error { return WriteNPY(f, []int{6}, data) },
		"c.npy": func(f *os.File) error { return WriteNPY(f, nil, data[1:2]) },
		"a.csv": func(f *os.File) error { return WriteCSV(f, []string{"t", "y"}, data) },
	} {
		f := testkit.Must(os.Create(filepath.Join(d, name)))(t)
		testkit.OK(t, write(f))
		testkit.OK(t, f.Close())
	}
	got := pythontest.Run(t, []string{"numpy"}, `
import os, sys, numpy as np
os.chdir(sys.argv[1])
want = np.array([1, -0.1, 1e150, 5e-324, 1 / 3, 6])
for got, w in ((np.load("a.npy"), want.reshape(3, 2)), (np.load("b.npy"), want), (np.load("c.npy"), want[1]),
               (np.loadtxt("a.csv", delimiter=",", skiprows=1), want.reshape(3, 2))):
    assert got.dtype == w.dtype and got.shape == w.shape and np.array_equal(got, w), (got, w)
print(open("a.csv").readline())
`, d)
	testkit.Equal(t, got, "t,y\n\n", "the CSV's first line")
}

// TestPythonWrites checks that this package reads files written by NumPy, with all types, orders, byte orders and versions.
func TestPythonWrites(t *testing.T) {
	d := t.TempDir()
	pythontest.Run(t, []string{"numpy"}, `
import os, sys, numpy as np
os.chdir(sys.argv[1])
a = np.array([[1, 2, 3], [4, 5, 120]])
for order in "CF":
    for kind in "f8 f4 i1 i2 i4 i8 u1 u2 u4 u8".split():
        for end in "<>":
            np.save(f"{order}{'be' if end == '>' else 'le'}{kind}", np.array(a, dtype=end + kind, order=order))
for v in (1, 0), (2, 0), (3, 0):
    with open(f"v{v[0]}.npy", "wb") as f:
        np.lib.format.write_array(f, a.astype(float), version=v)
np.savetxt("a.csv", a, delimiter=",", header="x0,x1,x2", comments="")
`, d)
	files := testkit.Must(os.ReadDir(d))(t)
	if len(files) != 44 {
		t.Fatalf("NumPy wrote %d files, want 44", len(files))
	}
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			same(t, testkit.Must(Open(filepath.Join(d, f.Name())))(t), []string{"x0", "x1", "x2"}, []float64{1, 2, 3, 4, 5, 120})
		})
	}
}
