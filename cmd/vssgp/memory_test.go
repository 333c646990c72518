//go:build linux && !race

package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// singing returns n samples at 16 kHz of a tone with many harmonics, vibrato and noise, silent in the gaps.
func singing(n int, gaps ...[2]int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	samples := make([]int16, n)
	for i := range samples {
		t := float64(i) / 16000
		phase, v := 2*math.Pi*(140*t+3*math.Sin(5*t)), 0.0
		for h := 1; h <= 25; h++ {
			v += math.Sin(float64(h)*phase) / float64(h)
		}
		samples[i] = int16(6000*v + 300*rng.NormFloat64())
	}
	for _, g := range gaps {
		clear(samples[g[0]:g[1]])
	}
	return wav(16000, 1, samples)
}

// highWater runs a command line in a new process and returns its peak memory in bytes, its exit code and stderr. It polls /proc, because
// the peak in the child's resource usage includes the memory of the parent.
func highWater(t *testing.T, args ...string) (most float64, code int, stderr string) {
	t.Helper()
	c := process(t, args...)
	c.Stdout = &bytes.Buffer{}
	testkit.OK(t, c.Start())
	over := make(chan struct{})
	go func() { c.Wait(); close(over) }()
	for {
		select {
		case <-over:
			return most, c.ProcessState.ExitCode(), fmt.Sprint(c.Stderr)
		case <-time.After(2 * time.Millisecond):
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
		if at := bytes.Index(status, []byte("VmHWM:")); at >= 0 {
			var kib float64
			fmt.Sscan(string(status[at+len("VmHWM:"):]), &kib)
			most = max(most, 1024*kib)
		}
	}
}

// needs matches the required memory in an error.
var needs = regexp.MustCompile(`needs? about ([0-9.e+]+) ([MG])iB`)

// TestSeriesMemory checks that a fit of a series that exceeds the limit of the address space is refused with one line.
func TestSeriesMemory(t *testing.T) {
	large := testkit.Put(t, t.TempDir(), "large.csv", "y\n"+strings.Repeat("1\n2\n", 1500000))
	c := process(t, "forecast", large, "--horizon", "2")
	c.Args = append([]string{"sh", "-c", `ulimit -v 4000000; exec "$0" "$@"`, c.Path}, c.Args[1:]...)
	c.Path = testkit.Must(exec.LookPath("sh"))(t)
	c.Run()
	stderr := fmt.Sprint(c.Stderr)
	code := c.ProcessState.ExitCode()
	if code != cli.ExitMistake || !strings.Contains(stderr, "a fit of 3000000 rows needs about") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestMemoryEstimate checks that the smallest accepted --memory plus the program's own memory is within a factor of two of the peak memory.
// It uses two processors: with more, excerpts do not reach their peaks together, but the estimate is their sum.
func TestMemoryEstimate(t *testing.T) {
	t.Setenv("GOMAXPROCS", "2")
	t.Setenv("GOMEMLIMIT", "off") // --memory would set it
	t.Chdir(t.TempDir())
	write := func(name string, n, columns int, data []float64) {
		testkit.OK(t, matrix.WriteNPY(name, []int{n, columns}, data))
	}
	rows := func(name string, n, q int) {
		data := make([]float64, 0, n*(q+1))
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range n {
			y := 0.1 * rng.NormFloat64()
			for j := range q {
				x := 10 * rng.Float64()
				if q == 1 {
					x = 100 * float64(i) / float64(n)
				}
				data = append(data, x)
				y += math.Sin(x + float64(j))
			}
			data = append(data, y)
		}
		write(name, n, q+1, data)
	}
	bursts := func(name string, n int) { // uneven rows with long gaps, which have a broad spectrum
		var data []float64
		rng := rand.New(rand.NewPCG(7, 8))
		for i := range n {
			x := float64(i/20)*1000 + float64(i%20) + 0.4*rng.Float64()
			data = append(data, x, math.Sin(0.7*x)+0.1*rng.NormFloat64())
		}
		write(name, n, 2, data)
	}
	sound := func(name string, seconds int, gaps ...[2]int) {
		testkit.Put(t, ".", name, string(singing(16000*seconds, gaps...)))
	}
	sound("cut.wav", 2, [2]int{8000, 8320}, [2]int{20000, 20400})
	rng, both := rand.New(rand.NewPCG(5, 6)), make([]int16, 4*16000)
	for i := 0; i < len(both); i += 2 { // two equal channels
		both[i] = int16(3000 * rng.NormFloat64())
		both[i+1] = both[i] + int16(100*rng.NormFloat64())
	}
	testkit.Put(t, ".", "two.wav", string(wav(16000, 2, both)))
	process(t, "version").Run() // loads the binary into the page cache
	cases := []string{
		"impute cut.wav --detect zeros -o out.wav",
		"impute two.wav --gap 8000:8320@1 --gap 20000:20800@1 -o out.wav",
		"fit cut.wav --window 32ms --iterations 3 -o out.st",
	}
	if slow.Tests {
		sound("long.wav", 150, [2]int{16000, 16300}, [2]int{1250000, 1250400}, [2]int{2000000, 2000300})
		sound("ten.wav", 10)
		sound("some.wav", 15)
		rows("one.npy", 16000, 1)
		rows("tables.npy", 200_000, 1)
		rows("four.npy", 8000, 4)
		rows("factorized.npy", 20_000, 1)
		rows("many.npy", 300_000, 3)
		bursts("bursts.npy", 1500)
		cases = append(cases,
			"impute cut.wav --detect zeros --draws 3 -o out.wav",
			"impute cut.wav --gap 8000:8320 --context all --window 32ms --components 40 -o out.wav",
			"impute cut.wav --detect zeros --method vssgp --draws 3 -o out.wav",
			"impute long.wav --detect zeros -o out.wav",
			"impute long.wav --detect zeros --components 40 -o out.wav",
			"impute long.wav --gap 250000:1500000 -o out.wav",
			"impute long.wav --gap 250000:1500000 --draws 2 -o out.wav",
			"fit one.npy --init paper --components 8 --features 100 --window none --iterations 2 -o out.st",
			"fit tables.npy --init paper --features 200 --window none --iterations 2 -o out.st",
			"fit four.npy --x 0,1,2,3 --y 4 --components 4 --features 100 --iterations 2 --restarts 2 -o out.st",
			"fit ten.wav --window 32ms --iterations 3 --checkpoint part.st --every 1ms -o out.st",
			"fit some.wav --window 32ms --iterations 2 -o out.st",
			"fit factorized.npy --inference factorized --init paper --components 20 --features 100 --window none --iterations 3 -o out.st",
			"fit bursts.npy --x 0 --method vssgp --window none --iterations 20 -o out.st",
			"fit many.npy --x 0,1,2 --y 3 --inference stochastic --components 4 --features 50 --iterations 20 -o out.st",
		)
	}
	program, _, _ := highWater(t, "version")
	for _, line := range cases {
		args := append(strings.Fields(line), "--device", "cpu", "--quiet", "--memory")
		least, began := 1e3, time.Now()
		used, code, stderr := 0.0, cli.ExitMistake, ""
		for code != cli.ExitDone {
			used, code, stderr = highWater(t, append(args, fmt.Sprintf("%.0fB", least))...)
			found := needs.FindStringSubmatch(stderr)
			if code != cli.ExitDone && found == nil {
				t.Fatalf("vssgp %s: exit %d, %q", line, code, stderr)
			} else if code != cli.ExitDone {
				mib, _ := strconv.ParseFloat(found[1], 64)
				least = max(1.01*least, 1.001*mib*map[string]float64{"M": 1 << 20, "G": 1 << 30}[found[2]])
			}
		}
		least += program
		t.Logf("%v: %4.2f of %5.0f MiB: vssgp %s", time.Since(began).Round(time.Second), used/least, least/(1<<20), line)
		if used > 2*least || least > 2*used {
			t.Errorf("vssgp %s: %.3g bytes, estimated %.3g", line, used, least)
		}
		for _, pattern := range []string{"out*", "part*"} {
			left, _ := filepath.Glob(pattern)
			for _, name := range left {
				os.Remove(name)
			}
		}
	}
}

// TestImputeLong checks that filling and scoring a long recording allocates no more memory than for a short recording, because memory
// depends on the excerpts. Garbage collection is off because it may empty pools. The race detector also does, so a build constraint
// excludes it.
func TestImputeLong(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // each processor has a separate pool
	dir := t.TempDir()
	tonal := tone(8000, 8000)
	// imputing returns the number of bytes allocated to fill a recording of n samples.
	imputing := func(n int, flags []string) uint64 {
		samples := make([]int16, n)
		for at := 0; at < n; at += len(tonal) {
			copy(samples[at:], tonal)
		}
		file, out := testkit.Put(t, dir, "long.wav", string(wav(8000, 1, samples))), filepath.Join(dir, "out.wav")
		gaps := [][2]int{{0, 20}, {131050, 131090}, {n/2 + 50000, n/2 + 50020}, {n - 20, n}} // in separate excerpts for all n
		args := []string{"impute", file, "--reference", file, "--json", "-o", out}
		for _, g := range gaps {
			args = append(args, "--gap", fmt.Sprintf("%d:%d", g[0], g[1]))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := decode[imputed](t, succeed(t, append(args, flags...)...).stdout)
		runtime.ReadMemStats(&after)
		if v, s := r.Scores["vssgp"]["test_rmse"], r.Scores["silence"]["test_rmse"]; !(v < 0.3*s) {
			t.Errorf("test error %v, silence %v", v, s)
		}
		got := words(t, testkit.Read(t, out))
		if changed := changedInside(t, samples, got, gaps...); changed < 50 {
			t.Errorf("%d samples are filled", changed)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	const n = 16 << 20
	for _, flags := range [][]string{quick, nil} {
		if short, long := imputing(n/64, flags), imputing(n, flags); long > short+n/128 {
			t.Errorf("%v: %d bytes allocated for a file of %d bytes, %d for a file of %d", flags, long, 2*n, short, 2*n/64)
		}
	}
}
