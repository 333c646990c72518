package blocktri

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
)

// factorized returns the factor of a copy of g.
func factorized(t testing.TB, g *backend.Gram) *Factor {
	return testkit.Must(Factorize(g.Clone(), 0.1, 2))(t)
}

// BenchmarkSegments measures the best time of factor and inverse of a long recording's matrix,
// 600 windows of 40 features, for several numbers of segments. here-ms is the time on this
// machine. alone-ms is the time with one core per segment: the time of the slowest segment, run
// alone, plus the time of the separators.
func BenchmarkSegments(b *testing.B) {
	const blocks, size = 600, 40
	g := dominant(slices.Repeat([]int{size}, blocks))
	a := g.Clone()
	for _, segments := range []int{0, 3, 4, 8, 16} {
		b.Run(fmt.Sprint(segments), func(b *testing.B) {
			here, alone := time.Duration(1<<60), time.Duration(1<<60)
			for b.Loop() {
				a.CopyFrom(g)
				here = min(here, timed(func() {
					f := testkit.Must(Factorize(a, 0.1, segments))(b)
					f.Inverse()
				}))
				a.CopyFrom(g)
				t := timeParts(b, a, separators(a.Offset, max(2, segments)))
				alone = min(alone, slices.Max(t.parts)+t.between)
			}
			b.ReportMetric(0, "ns/op") // omit the total, which includes the copies
			b.ReportMetric(here.Seconds()*1e3, "here-ms")
			b.ReportMetric(alone.Seconds()*1e3, "alone-ms")
		})
	}
}

func timed(f func()) time.Duration {
	from := time.Now()
	f()
	return time.Since(from)
}

// times contains the times to factor and invert the segments, one after the other on one core,
// and the separators.
type times struct {
	parts   []time.Duration
	between time.Duration
}

func timeParts(b *testing.B, a *backend.Gram, at []int) (t times) {
	offset, lo := []int{0}, 0
	var segments []*Segment
	for _, hi := range append(slices.Clone(at), a.Blocks()) {
		segments = append(segments, NewSegment(a, lo, hi))
		lo = hi + 1
	}
	for i, v := range at {
		offset = append(offset, offset[i]+a.Size(v))
	}
	between, views := backend.NewGram(offset), []*backend.Gram(nil)
	for _, s := range segments {
		t.parts = append(t.parts, timed(func() {
			testkit.OK(b, s.Eliminate(0.1))
		}))
	}
	t.between = timed(func() {
		for i, s := range segments {
			views = append(views, s.Schur())
			if i > 0 && i < len(at) {
				copy(between.Below[i-1], views[i].Below[0])
			}
		}
		for i, v := range at {
			copy(between.Diag[i], a.Diag[v])
		}
		f := testkit.Must(Factorize(between, 0.1, 2))(b)
		f.Inverse()
		for i, v := range at {
			copy(a.Diag[v], between.Diag[i])
			if i > 0 {
				copy(views[i].Below[0], between.Below[i-1])
			}
		}
	})
	for i, s := range segments {
		t.parts[i] += timed(func() {
			s.Inverse()
		})
	}
	return t
}

// BenchmarkShares measures the best time of factor and inverse on one core, for a block of an
// outer segment and for a block of an inner segment.
func BenchmarkShares(b *testing.B) {
	for _, c := range []struct{ blocks, size int }{{400, 24}, {600, 37}, {600, 40}, {200, 80}, {60, 160}} {
		b.Run(fmt.Sprint(c.size), func(b *testing.B) {
			g := dominant(slices.Repeat([]int{c.size}, c.blocks))
			a := g.Clone()
			third := c.blocks / 3
			var best [3]float64
			for b.Loop() {
				a.CopyFrom(g)
				for i, part := range timeParts(b, a, []int{third, 2 * third}).parts {
					if us := part.Seconds() * 1e6 / float64(third); best[i] == 0 || us < best[i] {
						best[i] = us
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(best[0], "outer-µs")
			b.ReportMetric(best[1], "inner-µs")
			b.ReportMetric(best[1]/best[0], "ratio")
		})
	}
}
