package report

import (
	"fmt"
	"math"
	"sort"
	"sync"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/page"
)

// Fill is what the report of a filled recording shows.
type Fill struct {
	Name      string // of the recording's file
	Output    string // of the filled one's
	Samples   int    // per channel
	Rate      int
	Channels  int
	Gaps      []impute.Gap // rising
	Result    *impute.Result
	Input     impute.Source // the recording as it was given, gaps and all
	Reference impute.Source // nil: none is known
	Scores    *page.Table   // nil: no reference
	Density   *Densities    // nil: not asked for
	Settings  []Setting
}

// Densities collects the power spectra of the excerpts' models, which are not
// kept. Its methods may be called from several goroutines.
type Densities struct {
	mu   sync.Mutex
	rate int
	of   map[int][]float32 // by the excerpt's start
}

// NewDensities is for a recording of so many samples a second.
func NewDensities(rate int) *Densities { return &Densities{rate: rate, of: map[int][]float32{}} }

// Add takes in an excerpt that has its model.
func (s *Densities) Add(e *impute.Excerpt) {
	density := Density(e.Model, 0, 0, float64(s.rate)/2, densityBins/2)
	short := make([]float32, len(density))
	for i, v := range density {
		short[i] = float32(v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[e.Start] = short
}

// mean is the mean over the excerpts, added in their order; nil where there are none.
func (s *Densities) mean() []float64 {
	var starts []int
	for at := range s.of {
		starts = append(starts, at)
	}
	sort.Ints(starts)
	var out []float64
	for _, at := range starts {
		if out == nil {
			out = make([]float64, len(s.of[at]))
		}
		for i, v := range s.of[at] {
			out[i] += float64(v) / float64(len(starts))
		}
	}
	return out
}

// Impute is the report of a filled recording.
func Impute(f *Fill) (*Document, error) {
	p, err := newPortion(f)
	if err != nil {
		return nil, err
	}
	d := &Document{}
	d.Page.Title = "Filled: " + f.Name
	d.Page.Recording = p.recording
	d.Page.Lead = append([]string{f.summary()}, p.limits()...)
	whole, err := p.whole()
	if err != nil {
		return nil, err
	}
	d.section("The recording", whole...)
	if f.Scores != nil {
		d.section("Scores", *f.Scores, page.Text("RMSE in full scale; test: over the gaps, train: over the observed samples of the excerpts. STFT: the same of the short-time Fourier transform. Linear and autoregressive fills reproduce what is observed."))
	}
	gaps, err := p.groups()
	if err != nil {
		return nil, err
	}
	d.section("Gaps", gaps...)
	if density := f.Density.mean(); density != nil {
		top := float64(f.Rate) / 2
		chart := densityFigure(density, top, "Learnt power spectrum, mean over the excerpts", seconds, "full scale")
		d.section("Learnt spectrum", page.Chart{Figure: chart})
	}
	d.settings(f.Settings)
	return d, nil
}

func (f *Fill) summary() string {
	return fmt.Sprintf("%s filled (%d of %d samples, %s, %d Hz, %s) in %.1f s on %s. The filled recording is %s.",
		Counted(len(f.Gaps), "gap"), audio.Missing(f.Gaps), f.Samples, clock(f.Samples, f.Rate), f.Rate, Counted(f.Channels, "channel"), f.Result.Elapsed.Seconds(), f.Result.Device, f.Output)
}

// clock is the time of a sample, in minutes from one minute on.
func clock(sample, rate int) string {
	s := float64(sample) / float64(rate)
	if s < 60 {
		return fmt.Sprintf("%.3f s", s)
	}
	return fmt.Sprintf("%d:%06.3f min", int(s)/60, math.Mod(s, 60))
}

// length is a gap's length.
func length(g impute.Gap, rate int) string {
	return fmt.Sprintf("%.4g ms", 1000*float64(g.Len())/float64(rate))
}

// gapRMSE is the root mean square of a and b over all channels.
func gapRMSE(a, b [][]float64) float64 {
	sum, n := 0.0, 0
	for c := range a {
		for i := range a[c] {
			sum += (a[c][i] - b[c][i]) * (a[c][i] - b[c][i])
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}

// pictureOf is a spectrogram with its scales.
func pictureOf(title, alt string, s levels, top float64, from, to, rate int, gaps []impute.Gap, low bool) (page.Part, error) {
	columns := len(s)
	sample := func(c int) int { return from + c*(to-from)/columns }
	data, width, height, err := s.encode(top, func(c int) bool {
		at := sort.Search(len(gaps), func(i int) bool { return gaps[i].End > sample(c) })
		return at < len(gaps) && gaps[at].Start < max(sample(c+1), sample(c)+1)
	})
	if err != nil {
		return nil, err
	}
	hertz := func(share float64) string {
		return fmt.Sprintf("%.3g kHz", share*float64(rate)/2000)
	}
	return page.Picture{
		Title: title, Alt: alt, PNG: data, Width: width, Height: height, Low: low,
		Up: []string{hertz(1), hertz(0.5), "0"}, Along: []string{clock(from, rate), clock((from+to)/2, rate), clock(to, rate)},
	}, nil
}
