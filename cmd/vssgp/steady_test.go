//go:build !race

package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
)

// Memory goes with the excerpts: a fill of a long recording, scores included,
// allocates no more than the same one of a short recording. (Work buffers come
// back from a pool, which the collector may empty, so it rests, and the race
// detector does, hence this file's build constraint.)
func TestImputeLong(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // each processor has a pool of its own
	dir := t.TempDir()
	tonal := tone(8000, 8000)
	// imputing allocates so many bytes for a recording of n samples.
	imputing := func(n int, flags []string) uint64 {
		samples := make([]int16, n)
		for at := 0; at < n; at += len(tonal) {
			copy(samples[at:], tonal)
		}
		file, out := testkit.Put(t, dir, "long.wav", string(wav(8000, 1, samples))), filepath.Join(dir, "out.wav")
		gaps := [][2]int{{0, 20}, {131050, 131090}, {n/2 + 50000, n/2 + 50020}, {n - 20, n}} // in excerpts of their own, whatever n
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
		if len(got) != n {
			t.Fatalf("%d samples, want %d", len(got), n)
		}
		changed, at := 0, 0
		for i, v := range got {
			for at < len(gaps) && i >= gaps[at][1] {
				at++
			}
			if v == samples[i] {
				continue
			}
			changed++
			if at == len(gaps) || i < gaps[at][0] {
				t.Fatalf("sample %d changed outside the gaps", i)
			}
		}
		if changed < 50 {
			t.Errorf("%d samples are filled", changed)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	const n = 16 << 20
	for _, flags := range [][]string{quick, nil} {
		if short, long := imputing(n/64, flags), imputing(n, flags); long > short+n/128 {
			t.Errorf("%v: %d bytes were allocated for a file of %d, %d for one of %d", flags, long, 2*n, short, 2*n/64)
		}
	}
}
