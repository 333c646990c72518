package audio

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

// The scores compare an estimate with a reference of the same length. A mask selects the samples to score; nil selects all.
// The score is NaN if no sample is selected or if the lengths differ.

// masked returns est - ref at the selected samples and 0 elsewhere, and the number of selected samples.
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

// A Residual accumulates the scores of est - ref of one channel, with unselected samples set to zero. The channel is added in parts; only
// the last part and one frame are kept in memory.
type Residual struct {
	samples            int     // in the channel
	counted            int     // selected samples
	squares            float64 // sum of their squares
	length, hop, count int     // frame length (400 at 16 kHz) and hop (192) in samples, number of frames
	next               int     // index of the first frame not added yet
	spectrum           *autoregression.Spectrum
	power              []float64 // Σ |X_tk|² over the frames t, for each bin k up to the middle
	ahead              []float64 // residual from the start of the next frame; empty if it is zero
}

// NewResidual returns a Residual without selected samples for a channel of n samples. rate is in Hz. The frames cover the whole channel.
func NewResidual(n, rate int) *Residual {
	r := &Residual{samples: n, length: SamplesIn(frameSeconds, rate), hop: SamplesIn(hopSeconds, rate), count: 1}
	if n > r.length {
		r.count += (n - r.length + r.hop - 1) / r.hop
	}
	r.spectrum, r.power = autoregression.NewSpectrum(r.length, hamming(r.length)), make([]float64, r.length/2+1)
	return r
}

// Add adds the part that begins at sample start, which must follow the parts added before. ref, est and mask must have the same length.
func (r *Residual) Add(start int, ref, est []float64, mask []bool) {
	diff, count := masked(ref, est, mask)
	if count == 0 {
		return
	}
	r.counted += count
	for _, v := range diff { // sequentially, so that the sum does not depend on the division into parts
		r.squares += v * v
	}
	end := start + len(diff)
	r.upTo(start)
	zeros := start - r.next*r.hop - len(r.ahead)
	if zeros < 0 || end > r.samples {
		panic("audio: the parts of a residual must be in increasing order and inside the channel")
	}
	r.ahead = append(append(r.ahead, make([]float64, zeros)...), diff...)
	r.upTo(end)
}

// upTo adds the power of the frames that end at or before end. It skips frames that are zero.
func (r *Residual) upTo(end int) {
	for ; r.next < r.count && r.next*r.hop+r.length <= end; r.next++ {
		if len(r.ahead) > 0 {
			r.spectrum.Add(r.power, r.ahead[:min(r.length, len(r.ahead))])
			r.ahead = r.ahead[min(r.hop, len(r.ahead)):]
		}
	}
}

// RMSE returns the root mean square of est - ref over the selected samples.
func (r *Residual) RMSE() float64 { return math.Sqrt(r.squares / float64(r.counted)) }

// STFTRMSE returns the STFT RMSE of the parts added so far (see the function STFTRMSE).
func (r *Residual) STFTRMSE() float64 {
	if r.counted == 0 {
		return math.NaN()
	}
	all, sum := *r, 0.0 // a copy, to which the incomplete frames are added
	all.power = slices.Clone(r.power)
	all.upTo(r.count*r.hop + r.length)
	for k, v := range all.power {
		if k > 0 && 2*k < r.length { // include the bin of the negative frequency
			v *= 2
		}
		sum += v
	}
	return math.Sqrt(sum / float64(r.count) / float64(r.length))
}

// RMSE returns the root mean square of est - ref over the selected samples.
func RMSE(ref, est []float64, mask []bool) float64 {
	diff, count := masked(ref, est, mask)
	squares := 0.0
	for _, v := range diff {
		squares += v * v
	}
	return math.Sqrt(squares / float64(count))
}

// STFTRMSE returns the root mean square, over all frames and frequencies, of the short-time Fourier transform of est - ref, with
// unselected samples set to zero. The transform is linear, so this is the RMS distance between the complex transforms of est and ref if
// est equals ref at the unselected samples.
//
// The frame length of 25 ms and the hop of 12 ms are from the paper (Gal and Turner 2015), which specifies neither window nor scale. With
// a Hamming window and no scaling, the paper's STFT RMSEs are consistent with its RMSEs. Train and test sets consist of samples rather than
// frames, because with five gaps in 1000 samples every frame overlaps a gap.
func STFTRMSE(ref, est []float64, mask []bool, rate int) float64 {
	r := NewResidual(len(ref), rate)
	r.Add(0, ref, est, mask)
	return r.STFTRMSE()
}

// SNR returns the signal-to-noise ratio 10·log10(Σ ref² / Σ (est - ref)²) in dB over the selected samples. It is +Inf if est is exact and
// 0 if est is silence.
func SNR(ref, est []float64, mask []bool) float64 {
	diff, count := masked(ref, est, mask)
	if count == 0 {
		return math.NaN()
	}
	signal, _ := masked(make([]float64, len(ref)), ref, mask)
	return 10 * math.Log10(floats.Dot(signal, signal)/floats.Dot(diff, diff))
}

// Scores are the paper's scores of a fill, in units of the signal (see RMSE and STFTRMSE): TrainRMSE and TrainSTFTRMSE over
// the observed samples, TestRMSE and TestSTFTRMSE over the missing ones.
type Scores struct {
	TrainRMSE     float64 `json:"train_rmse"`
	TestRMSE      float64 `json:"test_rmse"`
	TrainSTFTRMSE float64 `json:"train_stft_rmse"`
	TestSTFTRMSE  float64 `json:"test_stft_rmse"`
}

// frameSeconds and hopSeconds are the frame length and the hop of the short-time Fourier transform in seconds, as in the paper.
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
