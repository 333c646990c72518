package audio

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mewkiz/flac/frame"
)

// TestPredict: each kind of signal gets the coding that fits it, in about as many bits as it has.
func TestPredict(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	state := [2]float64{}
	for _, c := range []struct {
		name   string
		width  int
		pred   frame.Pred
		wasted uint
		most   float64 // bits of a sample
		at     func(n int) float64
	}{
		{"silence", 16, frame.PredConstant, 0, 0.01, func(int) float64 { return -5 }},
		{"white", 16, frame.PredVerbatim, 0, 16, func(int) float64 { return float64(rng.IntN(1<<16) - 1<<15) }},
		{"parabola", 24, frame.PredFixed, 0, 1.1, func(n int) float64 { return float64(n*(n-1)/2 - 4_000_000) }},
		{"padded", 24, frame.PredVerbatim, 8, 16, func(int) float64 { return float64(rng.IntN(1<<16)-1<<15) * 256 }},
		{"resonance", 16, frame.PredFIR, 0, 6.2, func(int) float64 { // noise of deviation 10: 5.4 bits
			v := 1.2*state[0] - 0.8*state[1] + 10*rng.NormFloat64()
			state = [2]float64{v, state[0]}
			return v
		}},
		{"an empty upper band", 24, frame.PredFIR, 0, 8.5, func(n int) (v float64) {
			for k := range 60 {
				v += 2e5 / float64(k+1) * math.Sin(0.013*float64(k+1)*float64(n)+float64(k*k))
			}
			return v
		}},
	} {
		x := make([]int32, flacBlock)
		for n := range x {
			x[n] = int32(math.Round(c.at(n)))
		}
		s := predict(x, c.width)
		if each := s.bits / flacBlock; s.Pred != c.pred || s.Wasted != c.wasted || each > c.most {
			t.Errorf("%s: prediction %d of order %d without %d bits takes %.2f bits a sample; want %d, %d, %.2f",
				c.name, s.Pred, s.Order, s.Wasted, each, c.pred, c.wasted, c.most)
		}
	}
}

// TestPredictStereo: what two channels share is coded once.
func TestPredictStereo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		want                    frame.Channels
		common, inLeft, inRight float64 // shares of a smooth signal and of noise
	}{
		{frame.ChannelsMidSide, 1, 1, -1}, {frame.ChannelsSideRight, 1, 1, 0}, {frame.ChannelsLeftSide, 1, 0, 1}, {frame.ChannelsLR, 0, 1, 0},
	} {
		left, right := make([]int32, flacBlock), make([]int32, flacBlock)
		for n := range left {
			smooth, noise := 5000*c.common*math.Sin(0.01*float64(n)), 100*rng.NormFloat64()
			left[n], right[n] = int32(smooth+c.inLeft*noise), int32(smooth+c.inRight*noise)
		}
		if f := predicted([][]int32{left, right}, 16); f.Channels != c.want {
			t.Errorf("noise %v in left and %v in right: coded as %d; want %d", c.inLeft, c.inRight, f.Channels, c.want)
		}
	}
}
