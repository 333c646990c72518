package kernels

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/kernels/internal/source"
)

const regenerate = "run go generate ./kernels"

func read(t *testing.T) *source.Sources {
	t.Helper()
	return testkit.Must(source.Read("."))(t)
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	return testkit.Must(os.ReadFile(name))(t)
}

// images returns the PTX for each of source.Architectures.
func images(t *testing.T) (all [][]byte) {
	t.Helper()
	for _, arch := range source.Architectures {
		ptx := testkit.Must(PTX(arch/10, arch%10))(t)
		all = append(all, ptx)
	}
	return all
}

// TestGeneratedFilesMatchSources compares the files that need no compiler.
func TestGeneratedFilesMatchSources(t *testing.T) {
	s := read(t)
	args := testkit.Must(s.Args())(t)
	if !bytes.Equal(args, file(t, "args.go")) {
		t.Error("args.go does not match the sources:", regenerate)
	}
	if !bytes.Equal(s.Table(), file(t, "../gpu/internal/emu/table.h")) {
		t.Error("table.h does not match the sources:", regenerate)
	}
}

// TestSumMatchesSources compares the hashes of the sources and of the PTX with kernels.sum, which detects
// outdated PTX without a compiler.
func TestSumMatchesSources(t *testing.T) {
	sum := string(file(t, "kernels.sum"))
	version := regexp.MustCompile(`(?m)^# nvcc V(\S+)$`).FindStringSubmatch(sum)
	if version == nil || !strings.HasPrefix(version[1], source.Release+".") {
		t.Fatalf("kernels.sum names no nvcc of release %s: %s", source.Release, regenerate)
	}
	want := string(read(t).Sum("V"+version[1], images(t)))
	if sum == want {
		return
	}
	have := strings.Split(sum, "\n")
	for _, line := range strings.Split(want, "\n") {
		if !slices.Contains(have, line) {
			t.Errorf("kernels.sum lacks %q", line)
		}
	}
	t.Error("kernels.sum does not match the sources and PTX:", regenerate)
}

// TestPTXIsReproducible recompiles the PTX if an nvcc of the right release exists.
func TestPTXIsReproducible(t *testing.T) {
	if !slow.Tests {
		t.Skip("compiling takes half a minute")
	}
	c, err := source.FindCompiler("")
	switch {
	case errors.Is(err, source.ErrNoCompiler) && os.Getenv("VSSGP_REQUIRE_NVCC") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	s, kept := read(t), images(t)
	for i, arch := range source.Architectures {
		t.Run(fmt.Sprintf("sm_%d", arch), func(t *testing.T) {
			t.Parallel()
			ptx := testkit.Must(c.PTX(s, arch))(t)
			if !bytes.Equal(ptx, kept[i]) {
				t.Error("the compiled PTX differs from the stored PTX:", regenerate)
			}
		})
	}
}

var (
	entries   = regexp.MustCompile(`\.visible \.entry (\w+)\(([^)]*)\)\s*\.maxntid (\d+), 1, 1`)
	eightByte = regexp.MustCompile(`^\s*\.param \.[usbf]64 \w+\s*$`)
)

// TestEntriesMatchArguments checks that the PTX contains the kernels with the numbers of eight-byte parameters
// and threads of their types.
func TestEntriesMatchArguments(t *testing.T) {
	var want []string
	for _, k := range read(t).Kernels {
		want = append(want, fmt.Sprintln(k.Name, len(k.Parameters), k.Threads))
	}
	for i, ptx := range images(t) {
		arch := source.Architectures[i]
		if !bytes.Contains(ptx, fmt.Appendf(nil, "\n.version 7.8\n.target sm_%d\n", arch)) {
			t.Errorf("sm_%d: the PTX is not of ISA 7.8 for that target", arch)
		}
		var have []string
		for _, m := range entries.FindAllSubmatch(ptx, -1) {
			var params []string
			if len(bytes.TrimSpace(m[2])) > 0 {
				params = strings.Split(string(m[2]), ",")
			}
			for _, p := range params {
				if !eightByte.MatchString(p) {
					t.Errorf("sm_%d: %s: parameter %q is not of eight bytes", arch, m[1], strings.TrimSpace(p))
				}
			}
			have = append(have, fmt.Sprintln(string(m[1]), len(params), string(m[3])))
		}
		slices.Sort(have)
		slices.Sort(want)
		if !slices.Equal(have, want) {
			t.Errorf("sm_%d: the PTX has\n%swant\n%s", arch, strings.Join(have, ""), strings.Join(want, ""))
		}
	}
}

// TestPTXHasNoPaths checks that the PTX contains nothing that depends on the machine.
func TestPTXHasNoPaths(t *testing.T) {
	for i, ptx := range images(t) {
		if m := regexp.MustCompile(`(?m)^\s*\.(file|loc|section)\s.*|.*/(tmp|home|root|usr)/.*`).Find(ptx); m != nil {
			t.Errorf("sm_%d: the PTX has %q", source.Architectures[i], m)
		}
	}
}

func TestPTXOfCapability(t *testing.T) {
	for _, c := range []struct{ major, minor, target int }{
		{8, 0, 80}, {8, 6, 80}, {8, 9, 80}, {9, 0, 90}, {10, 0, 90}, {12, 1, 90},
	} {
		ptx, err := PTX(c.major, c.minor)
		if err != nil || !bytes.Contains(ptx, fmt.Appendf(nil, ".target sm_%d\n", c.target)) {
			t.Errorf("%d.%d: not the PTX for sm_%d: %v", c.major, c.minor, c.target, err)
		}
	}
	for _, c := range [][2]int{{7, 0}, {7, 5}, {6, 1}, {6, 9}, {3, 5}, {0, 0}} {
		if _, err := PTX(c[0], c[1]); err == nil {
			t.Errorf("%d.%d: got PTX", c[0], c[1])
		}
	}
}

// TestImageHasOneKernel checks that the images together are the PTX, and that nothing that another kernel
// could use is defined after the first one.
func TestImageHasOneKernel(t *testing.T) {
	definition := regexp.MustCompile(`(?m)^\.(?:const|global|shared|extern|func|visible \.func).*`)
	for i, all := range images(t) {
		arch := source.Architectures[i]
		head, _, _ := bytes.Cut(all, []byte(entry))
		if late := definition.Find(all[len(head):]); late != nil {
			t.Errorf("sm_%d: after the first kernel: %s", arch, late)
		}

		size := len(head)
		for _, k := range read(t).Kernels {
			image := testkit.Must(Image(arch/10, arch%10, k.Name))(t)
			own := entries.FindAllSubmatch(image, -1)
			if len(own) != 1 || string(own[0][1]) != k.Name {
				t.Errorf("sm_%d: the image of %s has the kernels %q", arch, k.Name, own)
			}
			size += len(image) - len(head)
		}
		if size != len(all) {
			t.Errorf("sm_%d: the images have %d bytes, the PTX %d", arch, size, len(all))
		}
	}
	if _, err := Image(9, 0, "features"); err == nil {
		t.Error("got an image of an unknown kernel")
	}
}

func TestWordsOfArguments(t *testing.T) {
	a := FeaturesPrepare{Decay: 1, Turn: 2, Rot: 3, M: -1, Delta: 0.5}
	if w := a.Words(); !slices.Equal(w, []uint64{1, 2, 3, 1<<64 - 1, 0x3fe0000000000000}) {
		t.Errorf("%x", w)
	}
	if a.Name() != "features_prepare" || a.Block() != 128 {
		t.Errorf("%s, %d threads", a.Name(), a.Block())
	}
}
