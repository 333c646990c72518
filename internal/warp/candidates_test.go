package warp

import (
	"context"
	"math"
	"slices"
	"testing"
)

// TestCandidates: what Fill says of a gap is the mixture of what the candidates say of it, each by its model alone, whichever way the
// recording runs; rows stand where their clocks say.
func TestCandidates(t *testing.T) {
	const rate = 8000
	ctx := context.Background()
	for _, gap := range [][2]int{{2000, 2100}, {2900, 2940}} { // the first is filled backward
		z := gliding(5000, rate, 150, 1.5, 6, 10, 0.02)
		clear(z[gap[0]:gap[1]])
		gaps := [][2]int{gap}
		f := NewFiller(Mixture(), rate)
		want, err := f.Fill(ctx, z, gaps, 0, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		all, err := f.Candidates(ctx, z, gaps, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, n := &place{z, gaps, 0, rate}, gap[1]-gap[0]
		if all[0].sign < 0 {
			p = p.reversed()
		}
		var parts []part
		total, bent := 0.0, 0
		for _, c := range all {
			r := f.menu.Recipes[c.Recipe].Final
			guessed, _ := f.prepare(p, r)
			s := guessed.warped(c.clock.warp(), r.reach(rate)).even(c.clock.Level)
			q, ok := conditional([]*levelled{s}, c.Model, nil)
			if !ok {
				t.Fatal("a candidate's model says nothing of the gap")
			}
			parts = append(parts, part{c.Weight, s.back(q.Means[0], n), s.variances(q.Variance, n)})
			total += c.Weight
			if !c.clock.straight() {
				bent++
			}
			checkRows(t, &c, gap, len(z))
			prior := 0.0
			for _, of := range []struct {
				grid  Grid
				value float64
			}{{r.Glide, c.clock.Glide * rate}, {r.Bend, c.clock.Bend * rate * rate}, {r.Level, c.clock.Level * rate}} {
				prior += of.grid.logPrior(slices.IndexFunc(of.grid.values(), func(v float64) bool { return math.Abs(v-of.value) < 1e-6 }))
			}
			if math.Abs(c.LogPrior-prior) > 1e-9 {
				t.Errorf("%+v: log prior %v, want %v", c.clock, c.LogPrior, prior)
			}
		}
		mean, variance := mix(parts, n)
		if all[0].sign < 0 {
			slices.Reverse(mean)
			slices.Reverse(variance)
		}
		for i := range mean {
			if math.Abs(mean[i]-want.Mean[i]) > 1e-9 || math.Abs(f.menu.Widen*variance[i]-want.Variance[i]) > 1e-9 {
				t.Fatalf("gap %v, sample %d: the candidates say %v ± %v, Fill says %v ± %v", gap, i, mean[i], variance[i], want.Mean[i], want.Variance[i])
			}
		}
		if math.Abs(total-1) > 1e-12 || bent == 0 {
			t.Errorf("gap %v: %d candidates, %d of them with a warp, of weight %v in all; want 1", gap, len(all), bent, total)
		}
	}
}

// checkRows: rows rise, the gap's middle is at 0, and time on either side is what the clock makes of it.
func checkRows(t *testing.T, c *Candidate, gap [2]int, n int) {
	before := math.Inf(-1)
	for i := gap[0] - 400; i < min(n, gap[1]+400); i++ {
		u, level := c.Row(i)
		x := float64(i) - float64(gap[0]+gap[1]-1)/2
		if c.Reaches(int(math.Abs(x))+1) && u <= before {
			t.Errorf("%+v: row %d stands at %v, behind it one at %v", c.clock, i, before, u)
		}
		before = u
		at, want := x+c.sign*c.clock.Glide*x*x/2+c.clock.Bend*x*x*x/6, math.Exp(c.sign*c.clock.Level*x)
		if math.Abs(level-want) > 1e-12*want || math.Abs(u-at) > 1e-9 {
			t.Errorf("%+v: row %d stands at %v with level %v, want %v and %v", c.clock, i, u, level, at, want)
		}
	}
}

// TestCandidatesInterrupted: once the context has ended there are none.
func TestCandidatesInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	z := gliding(3000, 8000, 150, 0, 0, 5, 0.02)
	if all, err := NewFiller(Mixture(), 8000).Candidates(ctx, z, [][2]int{{1500, 1540}}, 0); err == nil || all != nil {
		t.Errorf("%d candidates, %v", len(all), err)
	}
}
