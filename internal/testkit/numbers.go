package testkit

import (
	"math"
	"runtime"
	"testing"
)

// Numbers returns f(0), f(1), …, f(n−1).
func Numbers[T any](n int, f func(i int) T) []T {
	a := make([]T, n)
	for i := range a {
		a[i] = f(i)
	}
	return a
}

// Within fails the test if an entry of got differs from the entry of want by more than tol.
func Within(t testing.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol) {
			t.Fatalf("%s: entry %d is %v, want %v", what, i, got[i], w)
		}
	}
}

// SameOnCores checks that f returns the same bits on any number of cores.
func SameOnCores(t testing.TB, what string, f func() []float64) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := f()
	for _, cores := range []int{2, 3, 8} {
		runtime.GOMAXPROCS(cores)
		for i, v := range f() {
			if math.Float64bits(v) != math.Float64bits(want[i]) {
				t.Fatalf("%s: number %d is %v on %d cores, %v on one", what, i, v, cores, want[i])
			}
		}
	}
}
