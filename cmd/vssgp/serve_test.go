package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/serve"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// A client sends requests to a server in this process.
type client struct {
	t    *testing.T
	to   io.WriteCloser
	from *bufio.Reader
	done chan error
}

func newClient(t *testing.T) *client {
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := &client{t, to, bufio.NewReader(from), make(chan error, 1)}
	go func() {
		err := serve.Serve(t.Context(), in, out, cli.ReadVersion().String(), answer)
		out.Close()
		c.done <- err
	}()
	if f := c.frame(); f.Version != cli.ReadVersion().String() {
		t.Fatalf("the greeting is %+v", f)
	}
	return c
}

func (c *client) frame() *serve.Frame {
	c.t.Helper()
	f, err := serve.ReadFrame(c.from)
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

// call sends a command line with files by name, and returns the response and the notes.
func (c *client) call(files map[string]string, args ...string) (answer *serve.Frame, notes string) {
	c.t.Helper()
	f := &serve.Frame{Args: args}
	for name, content := range files {
		f.Files = append(f.Files, cli.ServedFile{Name: name, Content: []byte(content)})
	}
	if err := f.Write(c.to); err != nil {
		c.t.Fatal(err)
	}
	for {
		f := c.frame()
		if f.Code != nil {
			return f, notes
		}
		notes += f.Note
	}
}

// must sends a command line that must exit with 0, and returns its outputs by name.
func (c *client) must(files map[string]string, args ...string) map[string]string {
	c.t.Helper()
	f, _ := c.call(files, args...)
	if *f.Code != cli.ExitDone {
		c.t.Fatalf("%v: exit %d, %s", args, *f.Code, f.Error)
	}
	out := map[string]string{}
	for _, file := range f.Files {
		out[file.Name] = string(file.Content)
	}
	return out
}

// TestServedCommandsMatchFiles checks that served commands have the same inputs and outputs as commands with files.
func TestServedCommandsMatchFiles(t *testing.T) {
	speech := testkit.Read(t, "../../testdata/speech_gapped.wav")
	dir := t.TempDir()
	t.Chdir(dir)
	var csv strings.Builder
	csv.WriteString("day,flow\n")
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 28 {
		value := []string{"3", "5", "4", "", "7", "6", "4"}[i%7]
		csv.WriteString(day.AddDate(0, 0, i).Format("2006-01-02") + "," + value + "\n")
	}
	npy := filepath.Join(t.TempDir(), "xy.npy")
	testkit.OK(t, matrix.WriteNPY(npy, []int{4, 3}, []float64{0, 0, 1, 1, 0, 2, 0, 1, 3, 1, 1, 4}))
	files := map[string]string{"flow.csv": csv.String(), "at.csv": "day\n2024-02-01\n", "xy.npy": string(testkit.Read(t, npy)),
		"gaps.csv": "start,end\n4950,5110\n", "in.wav": string(speech)}
	c := newClient(t)
	for _, step := range []struct {
		args string
		out  []string
	}{
		{"forecast flow.csv --season none --trend none --horizon 5 -o f.csv -m s.safetensors",
			[]string{"f.csv", "s.safetensors"}},
		{"predict s.safetensors at.csv -o p.csv", []string{"p.csv"}},
		{"fill flow.csv --season none --trend none -o whole.csv --bands bands.csv", []string{"whole.csv", "bands.csv"}},
		{"fit xy.npy --x 0,1 --y 2 --iterations 3 -o m.safetensors", []string{"m.safetensors"}},
		{"predict m.safetensors xy.npy --x 0,1 -o p.npy --draws 2 --draws-file d.npy", []string{"p.npy", "d.npy"}},
		{"impute in.wav --gaps gaps.csv -o out.wav --sd sd.npy", []string{"out.wav", "sd.npy"}},
	} {
		args := strings.Fields(step.args)
		served := c.must(files, args...)
		if len(served) != len(step.out) {
			t.Errorf("%s: %d outputs, want %v", step.args, len(served), step.out)
		}
		for _, name := range step.out {
			if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("%s: %s is a file on disk: %v", step.args, name, err)
			}
		}
		for name, content := range files {
			testkit.Put(t, dir, name, content)
		}
		succeed(t, args...)
		for _, name := range step.out {
			want, err := os.ReadFile(name)
			if err != nil || served[name] != string(want) {
				t.Errorf("%s: %s differs from the command's own (%d bytes, %d; %v)", step.args, name, len(served[name]), len(want), err)
			}
			files[name] = served[name]
		}
		for name := range files {
			os.Remove(name)
		}
	}
	if f, _ := c.call(files, "forecast", "flow.csv", "--season", "none", "--trend", "none", "--horizon", "2", "-o",
		"-"); *f.Code != cli.ExitDone ||
		strings.Count(f.Stdout, "\n") != 3 || len(f.Files) != 0 {
		t.Errorf("exit %d, %d files, stdout %q", *f.Code, len(f.Files), f.Stdout)
	}
	c.to.Close()
	if err := <-c.done; err != nil {
		t.Errorf("the end of stdin: %v", err)
	}
}

// TestServeMemory checks that requests do not leak memory.
func TestServeMemory(t *testing.T) {
	c := newClient(t)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	files := map[string]string{"big.csv": strings.Repeat(" ", 1<<20)}
	c.call(files, "version")
	before := heap()
	const calls = 20
	for range calls {
		c.call(files, "version")
	}
	if grown := int64(heap()) - int64(before); grown > calls<<17 {
		t.Errorf("%d calls left %d bytes", calls, grown)
	}
}

// TestServeErrors checks that a failed request returns an error of one line and that the next request works.
func TestServeErrors(t *testing.T) {
	c := newClient(t)
	const series = "t,y\n0,1\n1,2\n2,1\n3,2\n"
	for _, e := range []struct {
		args, want string
		code       int
	}{
		{"forecast none.csv --horizon 2 -o f.csv", "none.csv was not sent with the request", cli.ExitMistake},
		{"forecast s.csv --horizon 0 -o f.csv", "from 1 to", cli.ExitMistake},
		{"forecast s.csv --oops -o f.csv", "unknown flag: --oops", cli.ExitMistake},
		{"info s.csv", "is a table", cli.ExitMistake},
		{"serve", "already", cli.ExitMistake},
		{"--seed 3 serve", "already", cli.ExitMistake},
		{"", "no command line", cli.ExitMistake}, // and not the arguments of this process
		{"fit - -o m.safetensors", "stdin", cli.ExitMistake},
	} {
		f, _ := c.call(map[string]string{"s.csv": series}, strings.Fields(e.args)...)
		if *f.Code != e.code || !strings.Contains(f.Error, e.want) || strings.HasPrefix(f.Error, cli.Prefix) || len(f.Files) > 0 {
			t.Errorf("%s: exit %d, %q; want %d and %q", e.args, *f.Code, f.Error, e.code, e.want)
		}
	}
	if _, notes := c.call(map[string]string{"s.csv": "t,y,z\n0,1,a\n1,2,b\n2,1,c\n3,2,d\n"}, "fit", "s.csv", "-o",
		"m.safetensors"); !strings.Contains(notes, "left out z") {
		t.Errorf("the notes are %q", notes)
	}
	io.WriteString(c.to, "\xff\xff\xff\xff\xff\xff\xff\xff")
	if err := <-c.done; cli.ExitCode(err) != cli.ExitMistake {
		t.Errorf("an invalid frame: %v", err)
	}
}

// TestServeEnd checks that the end of stdin ends the running command.
func TestServeEnd(t *testing.T) {
	c := newClient(t)
	var csv strings.Builder
	for i := range 300 {
		csv.WriteString([]string{"1,2\n", "2,3\n", "3,7\n"}[i%3])
	}
	go func() {
		call := &serve.Frame{Args: strings.Fields("fit xy.csv --method vssgp --features 100 --iterations 100000 --progress always -o " +
			"m.safetensors"), Files: []cli.ServedFile{{Name: "xy.csv", Content: []byte(csv.String())}}}
		call.Write(c.to)
	}()
	if f := c.frame(); !strings.Contains(f.Note, "bound") { // the command is running
		t.Logf("%+v", f)
	}
	c.to.Close()
	go io.Copy(io.Discard, c.from)
	select {
	case err := <-c.done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(timeout):
		t.Error("it goes on")
	}
}

// TestServeDisk checks for every flag that a served command writes no file and reads only files sent with the request.
func TestServeDisk(t *testing.T) {
	there, dir := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", dir)
	c := newClient(t)
	table := "t,y\n"
	for i := range 20 {
		table += fmt.Sprintf("%d,%d\n", i, i%3)
	}
	speech := string(testkit.Read(t, "../../testdata/speech_gapped.wav"))
	model := c.must(map[string]string{"d.csv": table}, "fit", "d.csv", "--method", "vssgp", "--features", "3", "--iterations", "2", "-o",
		"m.safetensors")["m.safetensors"]
	files := map[string]string{"d.csv": table, "m.safetensors": model, "in.wav": speech, "gaps.csv": "start,end\n4950,4960\n"}
	for name, content := range files {
		testkit.Put(t, there, name, content)
	}
	before := listing(t, there)
	calls := map[string]string{
		"repair":   "in.wav -o o.wav --gaps gaps.csv --method vssgp --features 3 --iterations 2",
		"forecast": "d.csv -o o.csv --season none", "fill": "d.csv -o o.csv --season none", "backtest": "d.csv --season none --origins 1",
		"fit": "d.csv -o o.st --method vssgp --features 3 --iterations 2", "predict": "m.safetensors d.csv -o o.csv",
		"evaluate": "m.safetensors d.csv", "info": "m.safetensors", "devices": "", "version": "",
	}
	if f, _ := c.call(nil, "man", filepath.Join(dir, "man1")); *f.Code != cli.ExitMistake || !strings.Contains(f.Error, "man1") {
		t.Errorf("man: exit %d, %s", *f.Code, f.Error)
	}
	env := cli.NewEnv(t.Context(), io.Discard, io.Discard)
	for _, command := range newRoot(env).Commands() {
		args, known := calls[command.Name()]
		if !known {
			if !slices.Contains([]string{"serve", "help", "man"}, command.Name()) {
				t.Errorf("%s: it is not tested", command.Name())
			}
			continue
		}
		first := append([]string{command.Name()}, strings.Fields(args)...)
		for i, word := range first[1:] {
			if _, is := files[word]; is { // an input of the disk
				if f, _ := c.call(files, append(slices.Clone(first[:i+1]),
					append([]string{filepath.Join(there, word)}, first[i+2:]...)...)...); *f.Code != cli.ExitMistake || len(f.Files) > 0 {
					t.Errorf("%v, %s of the disk: exit %d, %s", first, word, *f.Code, f.Error)
				}
			}
		}
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			name, _ := pflag.UnquoteUsage(flag)
			v, ok := flag.Value.(*cli.Value)
			if named := ok && v.File != nil; !named {
				if name == "file" || name == "folder" {
					t.Errorf("%s --%s: serve does not treat it as a %s", command.Name(), flag.Name, name)
				}
				return
			}
			path := filepath.Join(dir, "x")
			if !v.File.Written {
				path = filepath.Join(there, "d.csv")
			} else if v.File.Extensions != nil {
				path += "." + v.File.Extensions[0]
			}
			args := first
			if command.Name() == "fit" && flag.Name == "events" {
				args = strings.Fields("fit d.csv -o o.st --method structural")
			}
			f, _ := c.call(files, append(slices.Clone(args), "--"+flag.Name, path)...)
			if *f.Code != cli.ExitDone && *f.Code != cli.ExitMistake || !v.File.Written && !strings.Contains(f.Error, "was not sent with the request") {
				t.Errorf("%s --%s: exit %d, %s", command.Name(), flag.Name, *f.Code, f.Error)
			}
			if found := listing(t, dir); len(found) != 1 {
				t.Fatalf("%s --%s: files on disk: %v", command.Name(), flag.Name, found)
			}
		})
	}
	if f, _ := c.call(files, "fit", "d.csv", "--method", "vssgp", "-o", "o.st", "--checkpoint", filepath.Join(dir, "x"),
		"--resume"); *f.Code != cli.ExitMistake || !strings.Contains(f.Error, "--checkpoint") {
		t.Errorf("exit %d, %s", *f.Code, f.Error)
	}
	if !maps.Equal(before, listing(t, there)) || len(listing(t, dir)) != 1 {
		t.Errorf("files on disk: %v, %v", listing(t, there), listing(t, dir))
	}
}
