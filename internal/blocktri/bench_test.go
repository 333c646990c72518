package blocktri

import (
	"fmt"
	"testing"

	"github.com/vssgp/vssgp/spectral"
)

// BenchmarkEvaluation times what one evaluation of the exact bound needs of a
// matrix of so many blocks of so many features.
func BenchmarkEvaluation(b *testing.B) {
	for _, c := range []struct{ blocks, size int }{{1, 40}, {1, 80}, {1, 128}, {1, 256}, {1, 800}, {1, 801}, {1, 2048}, {100, 40}, {100, 37}, {10, 256}} {
		sizes := make([]int, c.blocks)
		for v := range sizes {
			sizes[v] = c.size
		}
		g, _ := wellConditioned(sizes)
		for _, part := range []struct {
			name string
			call func(f *Factor)
		}{
			{"factor", func(*Factor) { factorised(b, g) }},
			{"inverse", func(f *Factor) { f.Inverse() }},
			{"solve", func(f *Factor) { f.Solve(make([]float64, g.M()), 1) }},
		} {
			b.Run(fmt.Sprintf("%d×%d/%s", c.blocks, c.size, part.name), func(b *testing.B) {
				f := factorised(b, g)
				b.ReportAllocs()
				for b.Loop() {
					part.call(f)
				}
			})
		}
	}
}

func factorised(t testing.TB, g *spectral.Gram) *Factor {
	f, err := Factorise(g, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
