package audio

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestFillLinear(t *testing.T) {
	nan := math.NaN()
	x := []float64{nan, nan, 2, nan, nan, nan, 6, 1, nan}
	gaps := []Gap{{Start: 0, End: 2}, {Start: 3, End: 6}, {Start: 8, End: 9}}
	testkit.Equal(t, FillLinear(x, gaps), []float64{2, 2, 2, 3, 4, 5, 6, 1, 1}, "linear")
}
