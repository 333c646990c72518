package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
)

// timeout is the maximum time of a command in these tests, also on a busy machine.
const timeout = 5 * time.Minute

// outcome is the result of a command.
type outcome struct {
	code           int
	stdout, stderr string
}

// vssgpRun runs one command line in this process.
func vssgpRun(t *testing.T, args ...string) outcome {
	t.Helper()
	return vssgpRunContext(t, context.Background(), args...)
}

func vssgpRunContext(t *testing.T, ctx context.Context, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, &stdout, &stderr, nil) }()
	select {
	case code := <-done:
		return outcome{code, stdout.String(), stderr.String()}
	case <-time.After(timeout):
		t.Fatalf("vssgp %s: no end after %v", strings.Join(args, " "), timeout)
		return outcome{}
	}
}

// succeed runs a command line that must exit with 0.
func succeed(t *testing.T, args ...string) outcome {
	t.Helper()
	o := vssgpRun(t, args...)
	if o.code != cli.ExitDone {
		t.Fatalf("vssgp %s: exit %d, %s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o
}

// fails reports an error unless the exit code is code, stdout is empty, and stderr is one line that contains the words.
func (o outcome) fails(t *testing.T, line string, code int, words ...string) {
	t.Helper()
	if o.code != code || o.stdout != "" || !strings.HasPrefix(o.stderr, cli.Prefix) || strings.Count(o.stderr, cli.Prefix) != 1 ||
		strings.Count(o.stderr, "\n") != 1 || !strings.HasSuffix(o.stderr, "\n") {
		t.Errorf("vssgp %s: exit %d, stdout %q, stderr %q; want %d and one line", line, o.code, o.stdout, o.stderr, code)
	}
	for _, w := range words {
		if !strings.Contains(o.stderr, w) {
			t.Errorf("vssgp %s: %q; want it to name %s", line, o.stderr, w)
		}
	}
}

// refuse runs a command line that must fail as a usage error, with a text in its one line on stderr.
func refuse(t *testing.T, named string, args ...string) {
	t.Helper()
	vssgpRun(t, args...).fails(t, strings.Join(args, " "), cli.ExitMistake, named)
}

// printed is the output of fit, evaluate, forecast and fill with --json.
type printed struct {
	Bound                 float64
	Terms                 map[string]float64
	Gradient              map[string]any
	Rows, Horizon, Filled int
	RMSE                  *float64
	Density               *float64 `json:"mean_log_predictive_density"`
	Coverage              *float64
	NoiseSD               []float64 `json:"noise_sd"`
	Periods               []float64
	Parts                 []string
	Iterations            int
	Starts                []struct{ Ended string }
	Device, Model         string
	Interrupted           bool
	Resumed               *int
	Seconds               float64
	Ranks                 *struct {
		Size    int
		Compute float64 `json:"compute_seconds"`
		Share   float64 `json:"communication_share"`
	}
}

// decode reads the one JSON object of stdout.
func decode[T any](t *testing.T, stdout string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(stdout))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("stdout is not a JSON object: %v: %.200s", err, stdout)
	}
	if d.More() {
		t.Fatalf("stdout contains more than one JSON object: %.200s", stdout)
	}
	return v
}

// waitFor waits until a file exists.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for late := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("no %s after %v", path, timeout)
		}
	}
}

// listing returns the sizes of all files below dir by path. Folders have size −1.
func listing(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	files := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		size := info.Size()
		if e.IsDir() {
			size = -1
		}
		files[path] = size
		return nil
	})
	testkit.OK(t, err)
	return files
}

// wav returns a RIFF file of 16-bit PCM samples. It does not use package audio, which the tests check.
func wav(rate, channels int, samples []int16) []byte {
	var b bytes.Buffer
	le := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err) // a Buffer returns no errors
		}
	}
	size := uint32(2 * len(samples))
	b.WriteString("RIFF")
	le(36 + size)
	b.WriteString("WAVEfmt ")
	le(uint32(16))
	le(uint16(1)) // PCM
	le(uint16(channels))
	le(uint32(rate))
	le(uint32(rate * channels * 2))
	le(uint16(channels * 2))
	le(uint16(16))
	b.WriteString("data")
	le(size)
	le(samples)
	return b.Bytes()
}

// tone returns n nonzero samples of two tones and a little noise.
func tone(n, rate int) []int16 {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]int16, n)
	for i := range out {
		t := float64(i) / float64(rate)
		out[i] = int16(9000*math.Sin(2*math.Pi*200*t) + 4000*math.Cos(2*math.Pi*610*t) + 40*rng.NormFloat64())
		if out[i] == 0 {
			out[i] = 1
		}
	}
	return out
}

// patched returns a copy of b in which the bytes at offset are replaced.
func patched(b []byte, offset int, with ...byte) []byte {
	c := bytes.Clone(b)
	copy(c[offset:], with)
	return c
}

// words returns the 16-bit samples of a file from wav.
func words(t *testing.T, file []byte) []int16 {
	t.Helper()
	at := bytes.Index(file, []byte("data"))
	if at < 0 {
		t.Fatalf("no data chunk in %d bytes", len(file))
	}
	out := make([]int16, binary.LittleEndian.Uint32(file[at+4:])/2)
	testkit.Must(binary.Decode(file[at+8:], binary.LittleEndian, out))(t)
	return out
}

// changedInside returns the number of samples that a fill changed. It fails the test if a sample outside the gaps changed.
func changedInside[T comparable](t *testing.T, before, after []T, gaps ...[2]int) (changed int) {
	t.Helper()
	if len(before) != len(after) {
		t.Fatalf("%d samples, want %d", len(after), len(before))
	}
	at := 0
	for i, v := range before {
		for at < len(gaps) && i >= gaps[at][1] {
			at++
		}
		if v == after[i] {
			continue
		}
		if changed++; at == len(gaps) || i < gaps[at][0] {
			t.Fatalf("sample %d changed outside the gaps", i)
		}
	}
	return changed
}
