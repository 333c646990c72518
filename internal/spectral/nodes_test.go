package spectral

import (
	"fmt"
	"math"
	"testing"
)

func TestNodesReproduceTheCovariance(t *testing.T) {
	for _, test := range []struct {
		kind      Kind
		span      float64
		limit     float64
		tolerance float64 // without what is lost
		most      int
	}{
		{Line, 100, math.Inf(1), 0, 1},
		{RBF, 0.1, math.Inf(1), 2e-6, 3}, {RBF, 3, math.Inf(1), 2e-6, 7}, {RBF, 10, math.Inf(1), 2e-6, 13}, {RBF, 200, math.Inf(1), 2e-6, 161},
		{Band, 0.1, math.Inf(1), 2e-6, 3}, {Band, 20, math.Inf(1), 2e-6, 42},
		{M32, 10, math.Inf(1), 2e-3, 40}, {M32, 100, math.Inf(1), 2e-3, 225},
		{OU, 10, math.Inf(1), 1e-3, 2500}, {OU, 10, 40, 1e-3, 160},
		{RBF, 50, 1, 1e-3, 30},
	} {
		t.Run(fmt.Sprint(test.kind, test.span, test.limit), func(t *testing.T) {
			n := newNodes(test.kind, test.span, test.limit, 1e-3, 10_000)
			if len(n.Node) > test.most {
				t.Errorf("%d nodes, want at most %d", len(n.Node), test.most)
			}
			sum := n.Lost
			for _, w := range n.Weight {
				sum += w
			}
			if math.Abs(sum-1) > 1e-12 || n.Lost < 0 {
				t.Errorf("the weights and the lost part %g add up to %v", n.Lost, sum)
			}
			want := Component{Kind: test.kind, SD: 1, Length: 1}
			for i := range 101 {
				tau, got := test.span*float64(i)/100, 0.0
				for j, w := range n.Node {
					got += n.Weight[j] * math.Cos(w*tau)
				}
				if e := math.Abs(got - want.Covariance(tau)); e > test.tolerance+n.Lost {
					t.Fatalf("at distance %g: %g, want %g", tau, got, want.Covariance(tau))
				}
			}
		})
	}
}
