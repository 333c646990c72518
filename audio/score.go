package audio

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/ar"
)

// The scores compare an estimate with a reference of the same length. A mask says which samples count; nil means all.
// Where none counts, or where lengths differ, the score is NaN.

// masked returns est - ref where the mask is true, else 0, and the number of samples that count.
func masked(ref, est []float64, mask []bool) (diff []float64, count int) {
	if len(ref) != len(est) || mask != nil && len(mask) != len(ref) {
		return nil, 0
	}
	diff = make([]float64, len(ref))
	for n := range ref {
		if mask == nil || mask[n] {
			diff[n] = est[n] - ref[n]
			count++
		}
	}
	return diff, count
}

// A Residual scores est - ref of one channel, taken as zero at the samples that do not count. It is given the channel part
// by part, and keeps no more than a frame and the last part of it.
type Residual struct {
	samples            int     // of the channel
	counted            int     // samples that count
	squares            float64 // of those
	length, hop, count int     // samples in a frame (400 at 16 kHz), samples from one frame to the next (192), frames
	next               int     // the first frame not summed yet
	spectrum           *ar.Spectrum
	power              []float64 // Σ |X_tk|² over the frames t, of each bin k up to the middle
	ahead              []float64 // samples of the next frame and beyond; empty: they are zero as far as parts were added
}

// NewResidual returns the Residual of a channel of n samples at a rate. None of them counts yet. It has as many frames as reach the last
// sample.
func NewResidual(n, rate int) *Residual {
	r := &Residual{samples: n, length: SamplesIn(frameSeconds, rate), hop: SamplesIn(hopSeconds, rate), count: 1}
	if n > r.length {
		r.count += (n - r.length + r.hop - 1) / r.hop
	}
	r.spectrum, r.power = ar.NewSpectrum(r.length, hamming(r.length)), make([]float64, r.length/2+1)
	return r
}

// Add takes in the part that begins at sample start and lies after the parts added before. ref, est and mask are equally long.
func (r *Residual) Add(start int, ref, est []float64, mask []bool) {
	diff, count := masked(ref, est, mask)
	if count == 0 {
		return
	}
	r.counted += count
	for _, v := range diff { // one by one: the sum does not depend on the parts
		r.squares += v * v
	}
	end := start + len(diff)
	r.upTo(start)
	zeros := start - r.next*r.hop - len(r.ahead)
	if zeros < 0 || end > r.samples {
		panic("audio: the parts of a residual must rise and lie inside its channel")
	}
	r.ahead = append(append(r.ahead, make([]float64, zeros)...), diff...)
	r.upTo(end)
}

// upTo sums the frames that end there or before. Frames in which no part has a sample are not transformed.
func (r *Residual) upTo(end int) {
	for ; r.next < r.count && r.next*r.hop+r.length <= end; r.next++ {
		if len(r.ahead) > 0 {
			r.spectrum.Add(r.power, r.ahead[:min(r.length, len(r.ahead))])
			r.ahead = r.ahead[min(r.hop, len(r.ahead)):]
		}
	}
}

// RMSE returns the root of the mean of (est - ref)² over the samples that count.
func (r *Residual) RMSE() float64 { return math.Sqrt(r.squares / float64(r.counted)) }

// STFTRMSE returns the score of the function of the same name.
func (r *Residual) STFTRMSE() float64 {
	if r.counted == 0 {
		return math.NaN()
	}
	all, sum := *r, 0.0 // with the frames that reach beyond the last part
	all.power = slices.Clone(r.power)
	all.upTo(r.count*r.hop + r.length)
	for k, v := range all.power {
		if k > 0 && 2*k < r.length { // counts for its mirror image too
			v *= 2
		}
		sum += v
	}
	return math.Sqrt(sum / float64(r.count) / float64(r.length))
}

// RMSE returns the root of the mean of (est - ref)² over the samples that count.
func RMSE(ref, est []float64, mask []bool) float64 {
	diff, count := masked(ref, est, mask)
	squares := 0.0
	for _, v := range diff {
		squares += v * v
	}
	return math.Sqrt(squares / float64(count))
}

// STFTRMSE returns the root mean square, over all frames and frequencies, of the short-time Fourier transform (see STFT) of
// est - ref, with the samples that do not count set to zero. Because the transform is linear, this is the distance between
// the complex transforms of est and ref where est is right in all samples that do not count.
//
// Frames are as in the paper (Gal and Turner 2015): 25 ms long, every 12 ms; it states neither the window nor the scale. We take a
// Hamming window and no scaling, with which the paper's STFT RMSEs agree with its RMSEs. Samples rather than frames are sorted into train
// and test, because with five gaps in 1000 samples every frame touches one.
func STFTRMSE(ref, est []float64, mask []bool, rate int) float64 {
	r := NewResidual(len(ref), rate)
	r.Add(0, ref, est, mask)
	return r.STFTRMSE()
}

// SNR returns the signal-to-noise ratio 10·log10(Σ ref² / Σ (est - ref)²) in dB over the samples that count: +Inf where est
// is exact, 0 for silence.
func SNR(ref, est []float64, mask []bool) float64 {
	diff, count := masked(ref, est, mask)
	if count == 0 {
		return math.NaN()
	}
	signal, _ := masked(make([]float64, len(ref)), ref, mask)
	return 10 * math.Log10(floats.Dot(signal, signal)/floats.Dot(diff, diff))
}

// Scores are the paper's measures of a fill, in units of the signal: TrainRMSE and TrainSTFTRMSE over the observed samples,
// TestRMSE and TestSTFTRMSE over the missing ones (see RMSE and STFTRMSE).
type Scores struct {
	TrainRMSE     float64 `json:"train_rmse"`
	TestRMSE      float64 `json:"test_rmse"`
	TrainSTFTRMSE float64 `json:"train_stft_rmse"`
	TestSTFTRMSE  float64 `json:"test_stft_rmse"`
}

// frameSeconds and hopSeconds are the length of a frame of the short-time Fourier transform and the time from one frame to
// the next, in seconds, as in the paper.
const (
	frameSeconds = 0.025
	hopSeconds   = 0.012
)

// hamming returns w_i = 0.54 - 0.46 cos(2π i/(F-1)).
func hamming(length int) []float64 {
	w := make([]float64, length)
	for i := range w {
		w[i] = 0.54 - 0.46*math.Cos(2*math.Pi*float64(i)/float64(max(1, length-1)))
	}
	return w
}
