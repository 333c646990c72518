package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/testkit"
)

func TestOneLine(t *testing.T) {
	for _, c := range []struct{ err, want string }{
		{"plain", "vssgp: plain"},
		{"one\ntwo\r\n\tthree\n", "vssgp: one two three"},
		{"bell \a and \x1b[31mred", "vssgp: bell   and  [31mred"},
	} {
		if got := OneLine(errors.New(c.err)); got != c.want {
			t.Errorf("oneLine(%q) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {errors.New("anything"), 1}, {Mistake("usage"), 2}, {fmt.Errorf("x: %w", vssgp.ErrData), 2},
		{fmt.Errorf("x: %w", fs.ErrNotExist), 2}, {fmt.Errorf("x: %w", vssgp.ErrBound), 1}, {context.DeadlineExceeded, 1},
		{fmt.Errorf("x: %w", context.Canceled), 130}, {fmt.Errorf("%w: %w", vssgp.ErrData, context.Canceled), 130},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("exit code of %v is %d, want %d", c.err, got, c.want)
		}
	}
}

// TestClashAtWrite checks that an output that became an input after the first check is refused when it is written.
func TestClashAtWrite(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Put(t, ".", "in", "read")
	env := &Env{Context: t.Context()}
	env.Files.Add(NamedFile{Name: "IN", Path: "in"}, false)
	testkit.OK(t, env.CheckOutputs("out"))
	testkit.OK(t, os.Symlink("in", "out"))
	err := env.Write(fileio.File{Path: "out", Write: func(w io.Writer) error { _, err := io.WriteString(w, "written"); return err }})
	if err == nil || !strings.Contains(err.Error(), "IN in") || string(testkit.Read(t, "in")) != "read" {
		t.Errorf("%v; the input is %q", err, testkit.Read(t, "in"))
	}
}

// TestCloseOfStdout checks that an error of closing stdout is returned if something was written.
func TestCloseOfStdout(t *testing.T) {
	f := testkit.Must(os.Create(filepath.Join(t.TempDir(), "out")))(t)
	f.Close() // so that closing it fails
	for _, any := range []bool{false, true} {
		if err := (&stream{to: f, any: any}).finish(); (err != nil) != any || any &&
			!strings.HasPrefix(err.Error(), "write to stdout: ") {
			t.Errorf("something was written %v: %v", any, err)
		}
	}
}

// TestWriteInterrupted checks that an interruption ends the writing of an output, that the message does not contain the
// error of the computation, and that no files are left.
func TestWriteInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	env := &Env{Context: ctx}
	silent := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
	cmd := env.Command(silent, func(ctx context.Context, _ []string) error {
		return env.Write(fileio.File{Path: filepath.Join(dir, "out"), Write: func(w io.Writer) error {
			cancel()
			io.WriteString(w, "a part")
			return fmt.Errorf("cpu: predict: %w", ctx.Err())
		}})
	})
	cmd.SetArgs([]string{})
	err := cmd.ExecuteContext(ctx)
	if !errors.Is(err, context.Canceled) || err.Error() != "interrupted before there was a result" {
		t.Errorf("error %v, want it interrupted", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestParseLength(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  float64 // 0 for an error
		timed bool
	}{
		{"32ms", 0.032, true}, {"0.5s", 0.5, true}, {"12", 12, false}, {"1e-3", 0.001, false},
		{"", 0, false}, {"s", 0, false}, {"ms", 0, false}, {"-1s", 0, false}, {"0", 0, false}, {"NaN", 0, false}, {"Inf", 0, false},
		{"1 m", 0, false},
	} {
		v, timed, err := ParseLength(c.text)
		if (err != nil) != (c.want == 0) || math.Abs(v-c.want) > 1e-15 || timed != c.timed {
			t.Errorf("parseLength(%q) = %v, %v, %v; want %v, %v", c.text, v, timed, err, c.want, c.timed)
		}
	}
}

func FuzzParseLength(f *testing.F) {
	for _, s := range []string{"32ms", "0.5s", "12", "1e308s", "0x1p-3", "nan", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, _, err := ParseLength(s); err == nil && (!(v >= 0) || math.IsInf(v, 0)) {
			t.Errorf("parseLength(%q) = %v, want a number", s, v)
		}
	})
}

func TestMemoryFlag(t *testing.T) {
	for _, c := range []struct {
		text  string
		bytes float64
		bad   bool
	}{
		{"16GiB", 16 << 30, false}, {"500MB", 5e8, false}, {"1.5 TiB", 1.5 * (1 << 40), false}, {"64kB", 64e3, false}, {"7B", 7, false},
		{"none", math.Inf(1), false}, {"", 0, true}, {"16", 0, true}, {"-3GB", 0, true}, {"0B", 0, true}, {"InfGB", 0, true}, {"NaNGB", 0, true},
		{"GiB", 0, true}, {"16gb", 0, true},
	} {
		var bytes float64
		err := Size(&bytes).Set(c.text)
		if (err != nil) != c.bad || err == nil && bytes != c.bytes {
			t.Errorf("%q: %v bytes, %v", c.text, bytes, err)
		}
	}
}

func TestFreeMemory(t *testing.T) {
	dir := t.TempDir()
	info := testkit.Put(t, dir, "meminfo", "MemTotal:       200 kB\nMemAvailable:   100 kB\nSwapFree: 0 kB\n")
	unlimited, tight := testkit.Put(t, dir, "max", "max\n"), testkit.Put(t, dir, "tight", "51200\n")
	current, over := testkit.Put(t, dir, "current", "1200\n"), testkit.Put(t, dir, "over", "60000\n")
	none := filepath.Join(dir, "none")
	for _, c := range []struct {
		meminfo, most, current string
		want                   float64
	}{
		{info, none, none, 102400}, {info, unlimited, current, 102400}, {info, tight, current, 50000},
		{none, tight, current, 50000}, {info, tight, over, 102400}, {none, none, none, 0}, {tight, unlimited, none, 0},
	} {
		if got := freeMemory(c.meminfo, c.most, c.current); got != c.want {
			t.Errorf("%+v: %v, want %v", c, got, c.want)
		}
	}
}

func TestFreeAddresses(t *testing.T) {
	dir := t.TempDir()
	const row = "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max address space         "
	limited, open := testkit.Put(t, dir, "limited", row+"4096000              unlimited            bytes\n"),
		testkit.Put(t, dir, "open", row+"unlimited            unlimited            bytes\n")
	used := testkit.Put(t, dir, "used", "VmPeak:\t 9 kB\nVmSize:\t 1000 kB\n")
	full := testkit.Put(t, dir, "full", "VmSize:\t 4000 kB\n")
	for _, c := range []struct {
		limits, status string
		want           float64
	}{
		{limited, used, 3072000}, {limited, full, 1}, {open, used, 0}, {filepath.Join(dir, "none"), used, 0},
		{used, used, 0},
	} {
		testkit.Equal(t, freeAddresses(c.limits, c.status), c.want, c.limits)
	}
}

// TestJSONOfUnusualValues checks values that encoding/json does not support or encodes differently.
func TestJSONOfUnusualValues(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{[]float64{1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-7, 1234567}, `[1,null,null,null,1e-7,1234567]`},
		{1500 * time.Millisecond, `1.5`},
		{[]vssgp.Term{{Name: "noise", Value: -2}, {Name: "fit", Value: math.NaN()}}, `{"noise":-2,"fit":null}`},
		{struct {
			Name string   `json:"name"`
			None []int    `json:"none"`
			Two  *float64 `json:"two,omitzero"`
		}{Name: "<a> & \"b\"\n"}, `{"name":"<a> & \"b\"\n","none":[]}`},
	} {
		var b bytes.Buffer
		env := &Env{Stdout: &b}
		if err := env.PrintJSON(c.v); err != nil || b.String() != c.want+"\n" || !json.Valid(b.Bytes()) {
			t.Errorf("%#v: %v, %s, want %s", c.v, err, b.String(), c.want)
		}
	}
}

// TestFormerSpellings checks that scripts may use the former spellings of words and flags.
func TestFormerSpellings(t *testing.T) {
	to, optimizer := vssgp.Exact, "auto"
	set := pflag.NewFlagSet("fit", pflag.ContinueOnError)
	set.SetNormalizeFunc(Present)
	set.Var(OneOf(&to, "exact", "factorized"), "inference", "")
	set.Var(OneOf(&optimizer, "auto", "windows"), "optimizer", "")
	testkit.OK(t, set.Parse([]string{"--inference", "factorised", "--optimiser=windows"}))
	if to != vssgp.Factorized || optimizer != "windows" {
		t.Errorf("inference %q, optimizer %q", to, optimizer)
	}
}

// TestCommitOf checks the commit of module versions. Only versions without a tag have one.
func TestCommitOf(t *testing.T) {
	for version, want := range map[string]string{
		"v0.0.0-20261130120000-0123456789ab":      "0123456789ab",
		"v0.1.1-0.20261130120000-0123456789ab":    "0123456789ab",
		"v0.1.1-rc.0.20261130120000-0123456789ab": "0123456789ab",
		"v0.1.0": "", "v0.2.0-rc.1": "", "(devel)": "", "": "",
	} {
		testkit.Equal(t, commitOf(version), want, version)
	}
}
