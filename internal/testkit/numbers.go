package testkit

// Numbers returns f(0), f(1), …, f(n−1).
func Numbers[T any](n int, f func(i int) T) []T {
	a := make([]T, n)
	for i := range a {
		a[i] = f(i)
	}
	return a
}
