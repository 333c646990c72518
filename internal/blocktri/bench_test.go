package blocktri

import (
	"fmt"
	"slices"
	"testing"
	"time"

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

// BenchmarkSegments times factor and inverse of a long recording's matrix, 600
// windows of 40 features, in so many segments: by the clock on this machine,
// and as the longest part that one core has to do alone where each segment has
// a core, with all others waiting (alone-ms, of the best run).
func BenchmarkSegments(b *testing.B) {
	const blocks, size = 600, 40
	g := dominant(slices.Repeat([]int{size}, blocks))
	a := g.Clone()
	for _, segments := range []int{0, 3, 4, 8, 16} {
		b.Run(fmt.Sprint(segments), func(b *testing.B) {
			alone := time.Duration(1 << 60)
			for b.Loop() {
				b.StopTimer()
				a.CopyFrom(g)
				b.StartTimer()
				f, err := FactoriseSegments(a, 0.1, segments)
				if err != nil {
					b.Fatal(err)
				}
				f.Inverse()
				b.StopTimer()
				a.CopyFrom(g)
				alone = min(alone, longest(b, a, segments))
				b.StartTimer()
			}
			b.ReportMetric(alone.Seconds()*1e3, "alone-ms")
		})
	}
}

// longest is the time that the longest segment takes to factor and to invert,
// one after the other on one core, and that the separators take between.
func longest(b *testing.B, a *spectral.Gram, segments int) time.Duration {
	at := Separators(a.Offset, max(2, segments))
	p := dissect(a, at)
	parts := make([]time.Duration, len(p.segments))
	timed := func(f func()) time.Duration {
		from := time.Now()
		f()
		return time.Since(from)
	}
	for i, s := range p.segments {
		parts[i] = timed(func() {
			if err := s.Eliminate(0.1, p.rooms[i]); err != nil {
				b.Fatal(err)
			}
		})
	}
	between := timed(func() {
		for i, s := range p.segments {
			s.AddTo(p.separators, i-1, i)
		}
		f, err := Factorise(p.separators, 0.1)
		if err != nil {
			b.Fatal(err)
		}
		f.Inverse()
	})
	for i, s := range p.segments {
		parts[i] += timed(func() {
			var cross []float64
			if i > 0 && i < len(at) {
				cross = p.separators.Below[i-1]
			}
			s.Inverse(cross)
		})
	}
	return slices.Max(parts) + between
}
