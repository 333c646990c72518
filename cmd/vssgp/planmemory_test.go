//go:build linux && !race

package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/slow"
	"github.com/vssgp/vssgp/internal/table"
)

// singing is a tone of many harmonics that wavers, with some noise, n samples at 16 kHz, silent in the gaps.
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

// highWater is the most memory that a command line had in a process of its own, in bytes. (The kernel's account of an ended child
// begins with its parent's.)
func highWater(t *testing.T, args ...string) float64 {
	t.Helper()
	c := process(t, args...)
	c.Stdout = &bytes.Buffer{}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- c.Wait() }()
	most := 0.0
	for {
		select {
		case err := <-over:
			if err != nil {
				t.Fatalf("vssgp %s: %v, %s", strings.Join(args, " "), err, c.Stderr)
			}
			return most
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

// TestPlanMemory: what a command has in memory at its peak is within a factor of 1.5 of what it plans. On two processors: excerpts that
// many work at do not reach their peaks at the same time, of which the plan is the sum.
func TestPlanMemory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	t.Setenv("GOMAXPROCS", "2")
	t.Chdir(t.TempDir())
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
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := table.WriteNPY(f, []int{n, q + 1}, data); err != nil {
			t.Fatal(err)
		}
	}
	sound := func(name string, seconds int, gaps ...[2]int) {
		put(t, ".", name, string(singing(16000*seconds, gaps...)))
	}
	sound("cut.wav", 2, [2]int{8000, 8320}, [2]int{20000, 20400})
	rng, both := rand.New(rand.NewPCG(5, 6)), make([]int16, 4*16000)
	for i := 0; i < len(both); i += 2 { // two channels that agree
		both[i] = int16(3000 * rng.NormFloat64())
		both[i+1] = both[i] + int16(100*rng.NormFloat64())
	}
	put(t, ".", "two.wav", string(wav(16000, 2, both)))
	process(t, "version").Run() // the binary's pages are read once
	cases := []string{
		"impute cut.wav --detect zeros -o out.wav",
		"impute two.wav --gap 8000:8320@1 --gap 20000:20800@1 -o out.wav",
		"fit cut.wav --window 32ms --iterations 3 -o out.st",
	}
	if slow.Tests {
		sound("long.wav", 600, [2]int{16000, 16300}, [2]int{5000000, 5000400}, [2]int{8000000, 8000300})
		sound("ten.wav", 10)
		sound("some.wav", 30)
		rows("one.npy", 16000, 1)
		rows("tables.npy", 500_000, 1)
		rows("four.npy", 8000, 4)
		rows("factorised.npy", 50_000, 1)
		rows("million.npy", 1_000_000, 3)
		succeed(t, strings.Fields("fit ten.wav --window 32ms --iterations 1 -o ten.st --quiet")...)
		cases = append(cases,
			"impute cut.wav --detect zeros --draws 3 -o out.wav",
			"impute cut.wav --gap 8000:8320 --context all --window 32ms --components 40 -o out.wav",
			"impute cut.wav --detect zeros --method vssgp --draws 3 -o out.wav",
			"impute long.wav --detect zeros -o out.wav",
			"impute long.wav --detect zeros --method vssgp -o out.wav",
			"impute long.wav --gap 1000000:6000000 -o out.wav",
			"impute long.wav --gap 1000000:6000000 --draws 2 -o out.wav",
			"fit one.npy --init paper --components 8 --features 100 --window none --iterations 2 -o out.st",
			"fit tables.npy --init paper --features 200 --window none --iterations 2 -o out.st",
			"fit four.npy --x 0,1,2,3 --y 4 --components 4 --features 100 --iterations 2 --restarts 2 -o out.st",
			"fit ten.wav --window 32ms --iterations 3 --checkpoint part.st --every 1ms -o out.st",
			"fit some.wav --window 32ms --iterations 2 -o out.st",
			"fit factorised.npy --inference factorised --init paper --components 20 --features 100 --window none --iterations 3 -o out.st",
			"fit million.npy --x 0,1,2 --y 3 --inference stochastic --components 4 --features 50 --iterations 50 -o out.st",
			"predict ten.st long.wav -o out.wav",
			"predict ten.st some.wav -o out.csv",
			"predict ten.st cut.wav --draws 2 -o out.npy",
		)
	}
	for _, line := range cases {
		args := append(strings.Fields(line), "--device", "cpu")
		planned := float64(decode[struct{ Bytes struct{ Peak int64 } }](t, succeed(t, append(args, "--plan", "--json")...).stdout).Bytes.Peak)
		used := highWater(t, append(args, "--quiet")...)
		t.Logf("%4.2f of %5.0f MiB: vssgp %s", used/planned, planned/(1<<20), line)
		if used > 1.5*planned || planned > 1.5*used {
			t.Errorf("vssgp %s: %.3g bytes, %.3g planned", line, used, planned)
		}
		for _, pattern := range []string{"out*", "part*"} {
			left, _ := filepath.Glob(pattern)
			for _, name := range left {
				os.Remove(name)
			}
		}
	}
}
