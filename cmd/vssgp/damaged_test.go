package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
)

// mutation is a damaged file and how it was made.
type mutation struct {
	what string
	file []byte
}

// mutations damages a model file in n ways of each kind.
func mutations(t testing.TB, file []byte, n int, rng *rand.Rand) (all []mutation) {
	add := func(b []byte, format string, args ...any) {
		all = append(all, mutation{fmt.Sprintf(format, args...), b})
	}
	for range n {
		at := rng.IntN(len(file))
		add(file[:at], "cut at %d", at)
		at = rng.IntN(len(file))
		if rng.IntN(2) == 0 {
			at = rng.IntN(min(len(file), 2000))
		}
		flipped := bytes.Clone(file)
		flipped[at] ^= 1 << rng.IntN(8)
		add(flipped, "flip at %d", at)
	}
	whole := func() *safetensors.File {
		f, err := safetensors.Read(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	write := func(f *safetensors.File, format string, args ...any) {
		var b bytes.Buffer
		if err := f.Write(&b); err == nil {
			add(b.Bytes(), format, args...)
		}
	}
	names, entries := slices.Sorted(maps.Keys(whole().Tensors)), slices.Sorted(maps.Keys(whole().Metadata))
	for _, name := range names {
		f := whole()
		delete(f.Tensors, name)
		write(f, "no %s", name)
		old := whole().Tensors[name]
		for i, shape := range [][]int{{len(old.Data)}, {1, len(old.Data)}, {len(old.Data), 1}, {}, {0}, append(slices.Clone(old.Shape), 1), slices.Repeat([]int{1}, 5)} {
			f := whole()
			tensor := safetensors.Tensor{Shape: shape, Data: old.Data}
			switch i {
			case 3, 6:
				tensor.Data = []float64{1}
			case 4:
				tensor.Data = nil
			}
			f.Tensors[name] = tensor
			write(f, "%s of shape %v", name, shape)
		}
		for _, v := range []float64{0, -1, 1, 1e-300, 1e300, -1e300, 1e9, -1e9, 1e-9, math.NaN(), math.Inf(1)} {
			f := whole()
			for i := range f.Tensors[name].Data {
				f.Tensors[name].Data[i] = v
			}
			write(f, "%s all %v", name, v)
			if data := whole().Tensors[name].Data; len(data) > 0 {
				f = whole()
				i := rng.IntN(len(data))
				f.Tensors[name].Data[i] = v
				write(f, "%s[%d] = %v", name, i, v)
				f = whole()
				for i := range data {
					f.Tensors[name].Data[i] *= v
				}
				write(f, "%s × %v", name, v)
			}
		}
		f = whole()
		slices.Reverse(f.Tensors[name].Data)
		write(f, "%s reversed", name)
		f = whole()
		f.Tensors[name] = f.Tensors[names[rng.IntN(len(names))]]
		write(f, "%s is another", name)
	}
	for _, name := range entries {
		f := whole()
		delete(f.Metadata, name)
		write(f, "no metadata %s", name)
		for _, text := range []string{"", "null", "{}", "[]", "0", "-1", `"x"`, "{", "[null]", "[1e999]", "[0]", strings.Repeat("[", 100)} {
			f := whole()
			f.Metadata[name] = text
			write(f, "metadata %s = %.20s", name, text)
		}
		var tree any
		if json.Unmarshal([]byte(whole().Metadata[name]), &tree) != nil {
			continue
		}
		leaves(tree, func(path string, set func(v any) func()) {
			for _, v := range []any{0, -1, 1e300, 1e-300, 1e9, 0.5, 3, nil, "x", []any{}, map[string]any{}, true} {
				undo := set(v)
				text, _ := json.Marshal(tree)
				undo()
				f := whole()
				f.Metadata[name] = string(text)
				write(f, "metadata %s: %s = %v", name, path, v)
			}
		})
	}
	return all
}

// leaves visits the numbers, words and lists of a JSON value.
func leaves(v any, visit func(path string, set func(v any) func())) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			old := v[key]
			visit(key, func(now any) func() {
				v[key] = now
				return func() { v[key] = old }
			})
			leaves(old, func(path string, set func(v any) func()) { visit(key+"."+path, set) })
		}
	case []any:
		for i, old := range v {
			visit(strconv.Itoa(i), func(now any) func() {
				v[i] = now
				return func() { v[i] = old }
			})
			leaves(old, func(path string, set func(v any) func()) { visit(strconv.Itoa(i)+"."+path, set) })
		}
	}
}

// inner are words of the code that no user gave.
var inner = regexp.MustCompile(`json: |Go (struct|value)|blocktri|pivot|NaN: |bug|index out|too few digits`)

// damagedEvery is the share of all mutations that is tried.
var damagedEvery = 31

// TestDamagedModels: a model file that was damaged is a model, or a mistake: one line that names the file, in words that users know.
func TestDamagedModels(t *testing.T) {
	dir := t.TempDir()
	var table strings.Builder
	table.WriteString("day,a,b,e\n")
	for i := range 60 {
		fmt.Fprintf(&table, "2024-%02d-%02d,%v,%.2f,%v\n", 1+i/28, 1+i%28, 3+i%7, 2+math.Sin(float64(i)*1.3), 0.1+0.01*float64(i%5))
	}
	data, at := testkit.Put(t, dir, "d.csv", table.String()), testkit.Put(t, dir, "at.csv", "day\n2024-01-03\n2024-03-02\n")
	model, out, rng := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "o.csv"), rand.New(rand.NewPCG(1, 2))
	for _, args := range []string{
		"forecast %s --y a --season none --trend walk --short-memory=false --horizon 3 -o " + out + " -m",
		"forecast %s --y a,b --log always --season 7 --trend none --horizon 3 -o " + out + " -m",
		"fit %s --y a --yerr e --season none --trend line --short-memory=false -o",
		"fit %s --y a,b --method vssgp --features 4 --components 2 --iterations 4 --posterior 2 -o",
		"fit %s --y a --method vssgp --features 4 --components 1 --window 10 --iterations 4 -o",
		"fit %s --y a --method vssgp --inference factorised --features 4 --components 1 --iterations 4 -o",
	} {
		succeed(t, append(strings.Fields(fmt.Sprintf(args, data)), model)...)
		for i, m := range mutations(t, testkit.Read(t, model), 60, rng) {
			if i%damagedEvery != 0 {
				continue
			}
			if err := os.WriteFile(model, m.file, 0o666); err != nil {
				t.Fatal(err)
			}
			uses := []string{"info %s", "predict %s " + at + " -o -", "evaluate %s " + data}
			if damagedEvery > 10 { // one after the other, for time
				uses = uses[i/damagedEvery%3:][:1]
			}
			for _, use := range uses {
				o := vssgpRun(t, strings.Fields(fmt.Sprintf(use, model))...)
				if o.code == cli.ExitDone {
					if strings.Contains(o.stdout, "NaN") || strings.Contains(o.stdout, "Inf") {
						t.Errorf("%s, %.4s: %.300s", m.what, use, o.stdout)
					}
					continue
				}
				lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(o.stderr), "\n"), func(line string) bool {
					return strings.Contains(line, "warning: ") || strings.Contains(line, "left out ")
				})
				// Words that were changed into others of their kind are a model that does not suit the table.
				named := slices.ContainsFunc([]string{model, data, at, "this model's "}, func(name string) bool { return strings.Contains(lines[0], name) })
				if o.code != cli.ExitMistake || len(lines) != 1 || !named || inner.MatchString(lines[0]) {
					t.Errorf("%s, %.4s: exit %d, %s", m.what, use, o.code, o.stderr)
				}
			}
		}
	}
}
