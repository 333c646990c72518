package vssgp

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"

	"github.com/vssgp/vssgp/cpu"
)

// A trait is one of the things that a fit's bits depend on.
type trait struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// traitFrom is the trait of Options.From, which matters until the last start
// has begun.
const traitFrom = "the model to start from"

// traitSet is the trait of the processor's instructions, which some algebra of every device uses, named as they can be chosen.
const traitSet = "instruction set (" + cpu.Variable + ")"

// freeOptions are those that change nothing in what is computed.
var freeOptions = []string{"From", "Backend", "Progress", "Keep", "KeepEvery", "Checkpoint", "CheckpointEvery", "Resume", "Warn", "MemoryLimit"}

// traits are those of a fit of data under the options: the build, the device,
// the instruction set, the data and every option but the free ones.
func traits(data *Data, o *Options) ([]trait, error) {
	build, err := buildTrait()
	if err != nil {
		return nil, err
	}
	device := "cpu"
	if o.Backend != nil {
		device = o.Backend.Name()
	}
	all := []trait{{"build", build}, {"device", device}, {traitSet, cpu.Instructions()}, {"data", data.digest()}}
	if o.From != nil {
		h := sha256.New()
		if err := o.From.bare(o.From.Params).Write(h); err != nil {
			return nil, err
		}
		all = append(all, trait{traitFrom, fmt.Sprintf("sha256 %x", h.Sum(nil))})
	}
	v := reflect.ValueOf(*o)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; !slices.Contains(freeOptions, name) {
			all = append(all, trait{"option " + words(name), fmt.Sprint(v.Field(i))})
		}
	}
	return all, nil
}

// words is a field's name as a command line has it: NoisePrecision is
// noise-precision.
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// digest names the data: sizes, and a hash of every number.
func (d *Data) digest() string {
	h := sha256.New()
	b := bufio.NewWriterSize(h, 1<<16)
	var word []byte
	for _, a := range [][]float64{d.X, d.Y} {
		for _, v := range a {
			word = appendFloat(word[:0], v)
			b.Write(word) // a hash takes everything
		}
	}
	fmt.Fprintf(b, "%q %q", d.XNames, d.YNames)
	b.Flush()
	return fmt.Sprintf("%d rows of %d inputs and %d outputs, sha256 %x", d.N, d.Q, d.D, h.Sum(nil))
}

func appendFloat(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

// buildTrait names the program: what it was built from and with and, unless
// that is a version under control, a hash of the program itself.
func buildTrait() (string, error) {
	parts := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	unsure := true
	if info, ok := debug.ReadBuildInfo(); ok {
		parts = append(parts, info.Main.Path+" "+info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.modified":
				unsure = s.Value != "false"
			case "vcs.revision", "-tags", "GOAMD64", "GOARM64", "CGO_ENABLED", "GOEXPERIMENT":
				parts = append(parts, s.Key+"="+s.Value)
			}
		}
	}
	if unsure {
		sum, err := programSum()
		if err != nil {
			return "", err
		}
		parts = append(parts, "sha256 "+sum)
	}
	return strings.Join(parts, ", "), nil
}

// programSum is the hash of the running program's file.
func programSum() (string, error) {
	f, err := os.Open("/proc/self/exe") // even where the file has been replaced since
	if err != nil {
		var path string
		if path, err = os.Executable(); err == nil {
			f, err = os.Open(path)
		}
	}
	if err != nil {
		return "", fmt.Errorf("read the running program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read the running program: %w", err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// foreign says in which traits a checkpoint differs from a fit, with both
// values of the first; nothing if in none.
func foreign(is, want []trait, started bool) string {
	value := func(list []trait, name string) string {
		for _, t := range list {
			if t.Name == name {
				return t.Value
			}
		}
		return "none"
	}
	var differ []string
	for _, t := range append(append([]trait(nil), want...), is...) {
		if started && t.Name == traitFrom || slices.Contains(differ, t.Name) || value(is, t.Name) == value(want, t.Name) {
			continue
		}
		differ = append(differ, t.Name)
	}
	if differ == nil {
		return ""
	}
	first := differ[0]
	text := fmt.Sprintf("%s: in the checkpoint %.300s, here %.300s", first, value(is, first), value(want, first))
	if len(differ) > 1 {
		text += "; also " + strings.Join(differ[1:], ", ")
	}
	return text
}
