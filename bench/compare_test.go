package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/table"
)

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, c, d := put("a", `{"bound":-1000,"device":"cpu"}`), put("b", `{"bound":-1000.0005,"device":"cuda:0"}`), put("c", `{"bound":-1000.1}`), put("d", `{}`)
	for _, k := range []struct {
		x, y string
		ok   bool
	}{{a, b, true}, {a, c, false}, {a, d, false}, {a, filepath.Join(dir, "none"), false}} {
		if err := bench("compare", k.x, k.y); (err == nil) != k.ok {
			t.Errorf("%s and %s: %v", k.x, k.y, err)
		}
	}
}

// TestCompareFolders: bound and gradient of dumps agree with themselves, with
// another seed's they do not, and one number that is off is found.
func TestCompareFolders(t *testing.T) {
	dir := t.TempDir()
	dump := func(name, seed string) string {
		folder := filepath.Join(dir, name)
		if err := bench("speed", "-n", "60", "-features", "6", "-seed", seed, "-dump", folder); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	one, same, other := dump("one", "1"), dump("same", "1"), dump("other", "2")
	if err := bench("compare", "-tolerance", "0", "-gradient", "0", one, same); err != nil {
		t.Error(err)
	}
	if err := bench("compare", one, other); err == nil {
		t.Error("the bounds of two seeds agree")
	}
	path := filepath.Join(same, "gradient.frequency.mean.npy")
	g, err := table.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []struct {
		by float64
		ok bool
	}{{1 + 1e-5, true}, {1 + 1e-2, false}} {
		bad := append([]float64(nil), g.Data...)
		bad[3] *= off.by
		if err := atomicfile.Write(path, func(w io.Writer) error { return table.WriteNPY(w, []int{6, 1}, bad) }); err != nil {
			t.Fatal(err)
		}
		if err := bench("compare", "-gradient", "1e-4", one, same); (err == nil) != off.ok {
			t.Errorf("a number times %v: %v", off.by, err)
		}
	}
}
