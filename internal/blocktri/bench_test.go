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
		factor, room := factorised(b, g), spectral.NewGram(g.Offset)
		for _, part := range []struct {
			name string
			call func()
		}{
			{"factor", func() {
				room.CopyFrom(g)
				if _, err := Factorise(room, 0.1); err != nil {
					b.Fatal(err)
				}
			}},
			{"inverse", func() {
				room.CopyFrom(factor.R)
				(&Factor{R: room, Middle: factor.Middle}).Inverse() // overwrites it
			}},
			{"solve", func() { factor.Solve(make([]float64, g.M()), 1) }},
		} {
			b.Run(fmt.Sprintf("%d×%d/%s", c.blocks, c.size, part.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					part.call()
				}
			})
		}
	}
}

// factorised is the factor of g, which keeps its value.
func factorised(t testing.TB, g *spectral.Gram) *Factor {
	f, err := Factorise(g.Clone(), 0.1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
