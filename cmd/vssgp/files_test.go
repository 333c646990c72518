package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/version"
)

// clashes are command lines whose output OUT is an input, with parts of the error. MODEL, DATA, WAV, CLEAN and GAPS are existing files, and
// OUT is a link to one of them.
var clashes = []struct {
	line, input string // input that OUT links to
	names       []string
}{
	{"fit DATA --x seconds --y y1 -o OUT.csv --iterations 2", "data.csv", []string{"-o", "DATA"}},
	{"fit DATA --x seconds --y y1 -o other.st --report OUT.html --iterations 2", "data.csv", []string{"--report", "DATA"}},
	{"fit DATA --x seconds --y y1 -o OUT.safetensors --init MODEL --iterations 2", "m.safetensors", []string{"-o", "--init"}},
	{"predict MODEL DATA --x seconds -o OUT.safetensors", "m.safetensors", []string{"-o", "MODEL"}},
	{"predict MODEL DATA --x seconds -o OUT.csv", "data.csv", []string{"-o", "INPUTS"}},
	{"predict MODEL DATA --x seconds -o other.csv --draws 1 --draws-file OUT.csv", "data.csv", []string{"--draws-file", "INPUTS"}},
	{"predict MODEL DATA --x seconds -o other.csv --plot OUT.svg", "m.safetensors", []string{"--plot", "MODEL"}},
	{"info MODEL --plot OUT.svg", "m.safetensors", []string{"--plot", "MODEL"}},
	{"impute WAV --gap 600:620 -o OUT.wav", "cut0.wav", []string{"-o", "IN.wav"}},
	{"impute WAV --gaps GAPS --reference CLEAN -o OUT.wav", "clean.wav", []string{"-o", "--reference"}},
	{"impute WAV --gaps GAPS -o other.wav --sd OUT.csv", "gaps.csv", []string{"--sd", "--gaps"}},
	{"impute WAV --gaps GAPS -o other.wav --report OUT.html", "gaps.csv", []string{"--report", "--gaps"}},
	{"impute WAV --gap 600:620 -o other.wav --init MODEL --model OUT.safetensors", "m.safetensors", []string{"--model", "--init"}},
}

// extension returns the extension of OUT in a command line, or "" if it has no OUT.
func extension(line string) string {
	_, rest, _ := strings.Cut(line, "OUT")
	ext, _, _ := strings.Cut(rest, " ")
	return ext
}

// clashFolder returns a folder with the input files of clashes.
func clashFolder(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	damaged(t, dir, 0)
	testkit.Put(t, dir, "gaps.csv", "start,end\n600,620\n")
	data := testkit.Put(t, dir, "data.csv", strings.Replace(waves(40), "t,", "seconds,", 1))
	succeed(t, "fit", data, "--x", "seconds", "--y", "y1", "-o", filepath.Join(dir, "m.safetensors"), "--iterations", "2")
	return dir
}

var clashNames = strings.NewReplacer("DATA", "data.csv", "MODEL", "m.safetensors", "WAV", "cut0.wav", "CLEAN", "clean.wav", "GAPS",
	"gaps.csv")

// TestOverwrite checks that an output that is an input, also through another path, is an error that names both and changes no file.
func TestOverwrite(t *testing.T) {
	t.Chdir(clashFolder(t))
	for _, c := range clashes {
		ext := extension(c.line)
		hard, symbolic, chain := "hard"+ext, "symbolic"+ext, "chain"+ext
		testkit.OK(t, errors.Join(os.Link(c.input, hard), os.Symlink(c.input, symbolic), os.Symlink("./"+symbolic, chain)))
		absolute := testkit.Must(filepath.Abs(hard))(t)
		spellings := []string{hard, symbolic, chain, absolute, "./" + hard}
		if ext == filepath.Ext(c.input) || ext == "" {
			spellings = append(spellings, c.input, ".//"+c.input)
		}
		before, was := listing(t, "."), testkit.Read(t, c.input)
		for _, out := range spellings {
			line := strings.Replace(clashNames.Replace(c.line), "OUT"+ext, out, 1)
			o := vssgpRun(t, strings.Fields(line)...)
			o.fails(t, line, cli.ExitMistake, "--overwrite", out+" ")
			for _, name := range c.names {
				o.fails(t, line, cli.ExitMistake, name+" ")
			}
			if after := listing(t, "."); !maps.Equal(before, after) || !bytes.Equal(was, testkit.Read(t, c.input)) {
				t.Fatalf("vssgp %s: left %v; want %v", line, after, before)
			}
		}
		for _, name := range []string{hard, symbolic, chain} {
			os.Remove(name)
		}
	}
}

// TestOverwriteFlag checks that --overwrite writes the same bytes as to a separate file, and that a hard link keeps the input.
func TestOverwriteFlag(t *testing.T) {
	dir := clashFolder(t)
	for _, c := range clashes {
		ext := extension(c.line)
		if ext == ".safetensors" && strings.HasPrefix(c.line, "predict") || ext == ".html" ||
			ext == ".svg" { // not an output format, or a file that contains a time
			continue
		}
		t.Run(c.line, func(t *testing.T) {
			t.Chdir(t.TempDir())
			testkit.OK(t, os.CopyFS(".", os.DirFS(dir)))
			testkit.OK(t, os.Link(c.input, "kept"))
			was, in := testkit.Read(t, c.input), "in"+ext
			testkit.OK(t, os.Rename(c.input, in))
			line := strings.Replace(clashNames.Replace(c.line), c.input, in, -1)
			succeed(t, strings.Fields(strings.Replace(line, "OUT", "fresh", 1))...)
			succeed(t, append(strings.Fields(strings.Replace(line, "OUT"+ext, in, 1)), "--overwrite")...)
			if want := testkit.Read(t, "fresh"+ext); bytes.Equal(want, was) || !bytes.Equal(testkit.Read(t, in), want) {
				t.Errorf("the output is unchanged or differs from the separate file")
			}
			if !bytes.Equal(testkit.Read(t, "kept"), was) {
				t.Error("the hard link to the input has changed")
			}
		})
	}
}

// TestMadeNames checks the errors for conflicts between an input and a derived output name, and between outputs.
func TestMadeNames(t *testing.T) {
	t.Chdir(clashFolder(t))
	testkit.Put(t, ".", "out-1.wav", string(testkit.Read(t, "clean.wav")))
	testkit.Put(t, ".", "fill-2.safetensors", string(testkit.Read(t, "m.safetensors")))
	testkit.OK(t, errors.Join(os.Link("gaps.csv", "one.csv"), os.Link("gaps.csv", "two.txt")))
	before := listing(t, ".")
	for _, c := range []struct{ line, one, other string }{
		{"impute cut0.wav --gap 600:620 --reference out-1.wav --draws 2 -o out.wav", "out-1.wav", "--reference"},
		{"impute cut0.wav --gap 200:220 --gap 900:910 --context 10ms --init fill-2.safetensors --model fill.safetensors -o out.wav",
			"fill-2.safetensors", "--init"},
		{"predict m.safetensors out-1.wav --draws 1 -o out.wav", "out-1.wav", "INPUTS"},
		{"impute cut0.wav --gap 600:620 -o one.wav --model ./one.wav", "one.wav", "same file"},
		{"impute cut0.wav --gap 600:620 -o out.wav --sd one.csv --labels two.txt --overwrite", "one.csv", "same file"},
		{"fit data.csv -o new --checkpoint ./new --overwrite", "new", "same file"},
		{"predict m.safetensors data.csv --x seconds --draws 2 -o new.csv --draws-file ./new.csv --overwrite", "new.csv", "same file"},
		{"impute cut0.wav --gap 200:220 --gap 900:910 --context 10ms --model fill.wav --draws 1 -o fill.wav", "fill.wav", "same file"},
		{"impute cut0.wav --gap 200:220 --gap 900:910 --context 10ms --model fill.csv --sd ./fill-1.csv -o out.wav", "fill-1.csv", "same file"},
	} {
		vssgpRun(t, strings.Fields(c.line)...).fails(t, c.line, cli.ExitMistake, c.one, c.other)
		if after := listing(t, "."); !maps.Equal(before, after) {
			t.Fatalf("vssgp %s: left %v", c.line, after)
		}
	}
}

// TestStdoutIsInput checks that stdout redirected to an input file, as with >>, is an error.
func TestStdoutIsInput(t *testing.T) {
	t.Chdir(clashFolder(t))
	was := testkit.Read(t, "data.csv")
	f := testkit.Must(os.OpenFile("data.csv", os.O_WRONLY|os.O_APPEND, 0))(t)
	defer f.Close()
	var stderr bytes.Buffer
	code := run(t.Context(), strings.Fields("predict m.safetensors data.csv --x seconds -o -"), f, &stderr, nil)
	if code != cli.ExitMistake || !strings.Contains(stderr.String(), "-o -") || !bytes.Equal(was, testkit.Read(t, "data.csv")) {
		t.Errorf("exit %d, %q; want %d, and unchanged data", code, stderr.String(), cli.ExitMistake)
	}
}

// TestInitNames checks that --init reads the name of an initialization as such even if a file has this name.
func TestInitNames(t *testing.T) {
	t.Chdir(clashFolder(t))
	for _, name := range []string{"paper", "spectrum"} {
		for range 2 { // the file does not exist in the first iteration
			succeed(t, "fit", "data.csv", "--x", "seconds", "--y", "y1", "--init", name, "-o", name, "--iterations", "2")
		}
	}
}

// TestFileFlags checks that every flag for a file is registered as input or output, and that commands with outputs have --overwrite.
func TestFileFlags(t *testing.T) {
	for _, c := range commands() {
		writes := false
		c.Flags().VisitAll(func(f *pflag.Flag) {
			v, ok := f.Value.(*cli.Value)
			if named := ok && v.File != nil; !named && strings.Contains(f.Usage, "`file`") || named &&
				v.File.Written != (!slices.Contains([]string{"gaps", "reference", "init", "at", "events"}, f.Name)) {
				t.Errorf("%s --%s is not registered correctly: %s", c.CommandPath(), f.Name, f.Usage)
			} else if named {
				writes = writes || v.File.Written
			}
		})
		if has := c.Flags().Lookup("overwrite") != nil; has != writes {
			t.Errorf("%s: --overwrite exists: %v, files are written: %v", c.CommandPath(), has, writes)
		}
	}
}

// An interrupter is a stderr that interrupts at the first sign of progress.
type interrupter struct {
	mu        sync.Mutex
	text      bytes.Buffer
	signs     []string // output that shows that work has begun
	interrupt func()
}

func (i *interrupter) Write(b []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if slices.ContainsFunc(i.signs, func(sign string) bool { return bytes.Contains(b, []byte(sign)) }) {
		i.interrupt()
	}
	return i.text.Write(b)
}

// lastLine returns the last line on stderr without the progress line.
func (i *interrupter) lastLine() string {
	text := i.text.String()
	return text[strings.LastIndex(text, "\r")+1:]
}

// interrupted runs a command and sends it a signal after its work has begun.
func interrupted(t *testing.T, args ...string) (outcome, string) {
	t.Helper()
	return interruptedAt(t, []string{"bound", "gap 1 ", "excerpt ", "searching"}, args...)
}

// interruptedAt interrupts a command when it prints one of the signs.
func interruptedAt(t *testing.T, signs []string, args ...string) (outcome, string) {
	t.Helper()
	ctx, stop := untilSignal(context.Background())
	defer stop()
	var stdout bytes.Buffer
	self := testkit.Must(os.FindProcess(os.Getpid()))(t)
	var once sync.Once
	stderr := &interrupter{signs: signs, interrupt: func() {
		once.Do(func() {
			testkit.OK(t, self.Signal(os.Interrupt))
			<-ctx.Done()
		})
	}}
	code := run(ctx, append(args, "--progress", "always"), &stdout, stderr, nil)
	return outcome{code, stdout.String(), stderr.text.String()}, stderr.lastLine()
}

func TestFitInterrupted(t *testing.T) {
	dir := t.TempDir()
	data := testkit.Put(t, dir, "data.csv", waves(120))
	model, part := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "m.part")
	o, line := interrupted(t, "fit", data, "--y", "y1,y2", "-o", model, "--checkpoint", part, "--restarts", "1000", "--json")
	if o.code != cli.ExitInterrupted {
		t.Fatalf("exit %d, want %d: %s", o.code, cli.ExitInterrupted, o.stderr)
	}
	testkit.Contains(t, line, cli.Prefix+"interrupted", "--resume", part, model)
	if r := decode[printed](t, o.stdout); !r.Interrupted || r.Model != model {
		t.Errorf("result %+v, want an interrupted one with its model", r)
	}
	succeed(t, "predict", model, data, "--x", "t", "-o", "-") // a whole model with its posterior
	succeed(t, "evaluate", part, data, "--json")              // a model too
	before := decode[printed](t, succeed(t, "evaluate", model, data, "--json").stdout).Bound
	o, _ = interrupted(t, "fit", data, "--y", "y1,y2", "-o", model, "--checkpoint", part, "--restarts", "1000", "--json", "--resume")
	r := decode[printed](t, o.stdout)
	if o.code != cli.ExitInterrupted || r.Resumed == nil || *r.Resumed < 1 || !(r.Bound >= before) {
		t.Errorf("resumed from a bound of %v: exit %d, %+v; want at least this bound", before, o.code, r)
	}
	refuse(t, "restarts", "fit", data, "--y", "y1,y2", "-o", model, "--checkpoint", part, "--restarts", "999", "--resume")
	if files := listing(t, dir); len(files) != 4 { // the folder, data, model, checkpoint
		t.Errorf("left %v", files)
	}
}

// TestReports checks the reports of fit, predict and info in each format.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := "t,y\n0,0\n1,1\n2,0\n3,-1\n4,0\n5,1\n6,0\n7,-1\n8,0\n9,1\n10,0\n11,-1\n"
	table, rows := testkit.Put(t, dir, "wave.csv", data), testkit.Put(t, dir, "rows.csv", "t\n0.5\n1.5\n20\n")
	begins := map[string]string{".html": "<!DOCTYPE html>", ".png": "\x89PNG", ".svg": "<?xml"}
	has := map[string][]string{
		"fit":     {"Fit of wave.csv", "Residuals of y", "Spectrum of y along t", "Bound over time", "--components", "vssgp " + version.Number},
		"predict": {"Prediction by model.safetensors", "of an observation", "--draws"},
		"info":    {"Model model.safetensors", "Spectrum of y along t", "Power spectrum"},
	}
	for ext, want := range begins {
		succeed(t, "fit", table, "-o", in("model.safetensors"), "--components", "2", "--features", "2", "--iterations", "5", "--report",
			in("fit"+ext))
		succeed(t, "predict", in("model.safetensors"), rows, "-o", in("out.csv"), "--draws", "2", "--plot", in("predict"+ext))
		succeed(t, "info", in("model.safetensors"), "--plot", in("info"+ext))
		for command, words := range has {
			text := string(testkit.Read(t, in(command+ext)))
			if !strings.HasPrefix(text, want) {
				t.Errorf("%s%s begins %.20q", command, ext, text)
			}
			for _, w := range words {
				if ext == ".html" && !strings.Contains(text, w) {
					t.Errorf("the page of %s lacks %q", command, w)
				}
			}
		}
	}
}
