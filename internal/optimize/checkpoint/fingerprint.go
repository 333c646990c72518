package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A Trait is an item of the fingerprint: something that the bits of a fit depend on.
type Trait struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Options returns a trait for each field of a struct of options, except for fields that do not
// change the result. The name of a nested field begins with the name of its struct.
func Options(o any, except ...string) []Trait {
	return traits("option ", reflect.ValueOf(o), except)
}

func traits(prefix string, v reflect.Value, except []string) (all []Trait) {
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch {
		case slices.Contains(except, name):
		case field.Kind() == reflect.Struct:
			all = append(all, traits(prefix+words(name)+"-", field, nil)...)
		default:
			all = append(all, Trait{prefix + words(name), fmt.Sprint(field)})
		}
	}
	return all
}

// words converts a field's name to a flag: NoisePrecision becomes noise-precision.
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

// Data returns the trait of data: their sizes and a hash of all numbers and names.
func Data(n, q, d int, x, y []float64, names ...[]string) Trait {
	h := sha256.New()
	for _, a := range [][]float64{x, y} {
		for part := range slices.Chunk(a, 1<<13) {
			binary.Write(h, binary.LittleEndian, part) // a hash returns no errors
		}
	}
	fmt.Fprintf(h, "%q", names)
	return Trait{"data", fmt.Sprintf("%d rows of %d inputs and %d outputs, sha256 %x", n, q, d, h.Sum(nil))}
}

// Build returns the trait of the program: its version and build settings and, if the version does
// not identify a commit, a hash of its file.
func Build() (Trait, error) {
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
			return Trait{}, err
		}
		parts = append(parts, "sha256 "+sum)
	}
	return Trait{"build", strings.Join(parts, ", ")}, nil
}

// programSum returns the hash of the running program's file.
var programSum = sync.OnceValues(func() (string, error) {
	f, err := os.Open("/proc/self/exe") // works even if the file has been replaced
	if err != nil {
		var path string
		if path, err = os.Executable(); err == nil {
			f, err = os.Open(path)
		}
	}
	h := sha256.New()
	if err == nil {
		defer f.Close()
		_, err = io.Copy(h, f)
	}
	if err != nil {
		return "", fmt.Errorf("read the running program: %w", err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
})

// Differ returns the names of the traits in which a checkpoint (is) differs from a fit (want),
// with both values of the first, or "" if there are none. Traits in except are ignored.
func Differ(is, want []Trait, except ...string) string {
	value := func(list []Trait, name string) string {
		if i := slices.IndexFunc(list, func(t Trait) bool { return t.Name == name }); i >= 0 {
			return list[i].Value
		}
		return "none"
	}
	var differ []string
	for _, t := range slices.Concat(want, is) {
		if !slices.Contains(except, t.Name) && !slices.Contains(differ, t.Name) && value(is, t.Name) != value(want, t.Name) {
			differ = append(differ, t.Name)
		}
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
