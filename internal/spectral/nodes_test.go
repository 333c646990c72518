package spectral

import (
	"fmt"
	"math"
	"testing"
)

func TestNodesReproduceTheCovariance(t *testing.T) {
	for _, test := range []struct {
		kind Kind
		span float64
		most int
	}{
		{Line, 100, 1},
		{RBF, 0.1, 3}, {RBF, 3, 7}, {RBF, 10, 13}, {RBF, 200, 161},
		{Band, 0.1, 3}, {Band, 20, 42},
	} {
		t.Run(fmt.Sprint(test.kind, test.span), func(t *testing.T) {
			n := newNodes(test.kind, test.span)
			if len(n.Node) > test.most {
				t.Errorf("%d nodes, want at most %d", len(n.Node), test.most)
			}
			sum := 0.0
			for _, w := range n.Weight {
				sum += w
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("the weights add up to %v", sum)
			}
			want := Component{Kind: test.kind, SD: 1, Length: 1}
			for i := range 101 {
				tau, got := test.span*float64(i)/100, 0.0
				for j, w := range n.Node {
					got += n.Weight[j] * math.Cos(w*tau)
				}
				if e := math.Abs(got - want.covariance(tau)); e > 2e-6 {
					t.Fatalf("at distance %g: %g, want %g", tau, got, want.covariance(tau))
				}
			}
		})
	}
}

// covariance returns k(t), the component's covariance at distance t.
func (c Component) covariance(t float64) float64 {
	v := c.SD * c.SD
	r := math.Abs(t) / c.Length
	switch c.Kind {
	case Band, RBF:
		v *= math.Exp(-0.5 * r * r)
	case M32:
		v *= (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r)
	case OU, Damped:
		v *= math.Exp(-r)
	}
	return v * math.Cos(2*math.Pi*c.Frequency*t)
}
