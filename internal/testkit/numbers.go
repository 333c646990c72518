package testkit

import (
	"math"
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

// Within ends a test if an entry of got is further than tol from that of want.
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
