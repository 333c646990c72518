package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/internal/testkit/spoil"
)

var (
	discNoise  = []float64{-30, -45}            // surface noise relative to the sound in dB
	discClicks = []float64{-20, -15, -10, 0}    // levels of clicks in dB; without clicks, the false detections are counted
	overNoise  = [...]float64{-100, 5, 10, 100} // classes of the level of a click over the surface noise in dB
)

// discSeconds is the length of the part of each recording that is used.
const discSeconds = 4.5

// A discScore counts the clicks and the detected clicks of mono discs by their level over the noise, and detections without a click.
type discScore struct {
	hit, all     [len(overNoise) - 1]int
	wrong, false int // near a click of the other wall only; near no click
	seconds      float64
}

// mono prints the evidence of the recordings with two channels. From the others it makes mono discs, and prints the recall of the search in
// each channel and of the search in the difference, too.
func mono(w io.Writer, files []string) error {
	var scores [2][2][5]discScore // [with the difference][noise][level]
	discs := 0
	for k, path := range files {
		r, err := audio.Open(path)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		if len(r.Samples) == 2 {
			if err := compare(w, r, filepath.Base(path)); err != nil {
				return err
			}
			continue
		}
		x := r.Samples[0]
		x, discs = x[:min(len(x), int(discSeconds*float64(r.Rate)))], discs+1
		for i, noise := range discNoise {
			clean := disc(x, r.Rate, noise, seed+uint64(k))
			for j := range len(discClicks) + 1 {
				y, added := slices.Clone(clean), make([][]audio.Gap, 2)
				for c := range y {
					if j < len(discClicks) {
						crackle := spoil.Crackle{Shapes: []spoil.Shape{spoil.Ring, spoil.Tick, spoil.Grain}, PerMinute: 150, Most: 40,
							Low: discClicks[j], High: discClicks[j]}
						y[c], added[c], _ = crackle.Clicks(clean[c], r.Rate, discStep, seed+uint64(100*k+10*j+c))
					}
				}
				for m := range scores {
					found, _, err := clicksOf(y, r.Rate, [...]detect.Switch{detect.Off, detect.On}[m])
					if err != nil {
						return err
					}
					scores[m][i][j].add(clean, y, added, found, r.Rate, noise, x)
				}
			}
		}
	}
	if discs > 0 {
		showDiscs(w, &scores)
	}
	return nil
}

// discStep is the quantization step of the discs.
const discStep = 1.0 / 32768

func clicksOf(x [][]float64, rate int, mono detect.Switch) ([]detect.Found, detect.Walls, error) {
	var r detect.Report
	o := detect.Options{Kinds: []detect.Kind{detect.Clicks}, Step: discStep, Vinyl: detect.Off, Mono: mono, Report: &r}
	found, err := detect.Find(context.Background(), audio.Samples(x), len(x[0]), rate, o)
	return found, r.Mono, err
}

// compare prints the evidence of a recording with two channels, and the numbers of detections with and without the difference.
func compare(w io.Writer, r *audio.Recording, name string) error {
	plain, _, err := clicksOf(r.Samples, r.Rate, detect.Off)
	if err != nil {
		return err
	}
	found, walls, err := clicksOf(r.Samples, r.Rate, detect.Auto)
	if err == nil {
		fmt.Fprintf(w, "%s: mono %v, reduction %.1f dB, music %.1f dB, %d clicks, without the difference %d\n",
			name, walls.Used, walls.Reduction, walls.Music, len(found), len(plain))
	}
	return err
}

// disc returns the walls of a mono disc with sound x, limited to .6 of the Nyquist frequency: the second has another gain, a delay of up to
// a sample and another treble. Each has surface noise and rumble.
func disc(x []float64, rate int, noise float64, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	x = filtered(x, windowedSinc(32, 0.6, 0))
	size := math.Pow(10, noise/20) * floats.Norm(x, 2) / math.Sqrt(float64(len(x)))
	gain, delay, treble := 0.9+0.2*rng.Float64(), 2*rng.Float64()-1, 0.3*rng.Float64()-0.15
	out := [][]float64{x, filtered(filtered(x, windowedSinc(64, 1, delay)), []float64{0, gain, gain * treble})}
	for c, wall := range out {
		y := make([]float64, len(x))
		pink, rumble, rumble2, k := 0.0, 0.0, 0.0, 2*math.Pi*40/float64(rate)
		for i, v := range wall {
			white := rng.NormFloat64()
			pink = 0.9*pink + 0.3*white
			rumble += k*rumble*-1 + math.Sqrt(k/2)*rng.NormFloat64()
			rumble2 += k * (2*rumble - rumble2)
			y[i] = discStep * math.Round(0.9*(v+size*(0.7*white+0.7*pink+3*rumble2))/discStep)
		}
		out[c] = y
	}
	return out
}

// windowedSinc returns a low-pass filter of 2m+1 taps with the cutoff relative to the Nyquist frequency, delayed by delay samples.
func windowedSinc(m int, cutoff, delay float64) (h []float64) {
	for k := -m; k <= m; k++ {
		t := float64(k) - delay
		s := cutoff
		if t != 0 {
			s = math.Sin(math.Pi*t*cutoff) / (math.Pi * t)
		}
		h = append(h, s*(0.5+0.5*math.Cos(math.Pi*t/float64(m+2))))
	}
	return h
}

// filtered returns x filtered by taps h, of which the middle one has lag 0.
func filtered(x, h []float64) []float64 {
	y, m := make([]float64, len(x)), len(h)/2
	for i := range x {
		for k, v := range h {
			if at := i - (k - m); at >= 0 && at < len(x) {
				y[i] += v * x[at]
			}
		}
	}
	return y
}

// add adds the score of a disc y, which is clean except for the clicks added. A click is detected if detections in its channel contain at
// least half of its energy.
func (s *discScore) add(clean, y [][]float64, added [][]audio.Gap, found []detect.Found, rate int, noise float64, x []float64) {
	surface := 20*math.Log10(floats.Norm(x, 2)/math.Sqrt(float64(len(x)))) + noise
	for c := range y {
		t := trial{x: clean[c], y: y[c]}
		for _, g := range added[c] {
			within, all := 0.0, t.energy(g.Start, g.End)
			for _, f := range found {
				if f.Channel == 0 || f.Channel == c+1 {
					within += t.energy(max(g.Start, f.Start), min(g.End, f.End))
				}
			}
			k := 0
			for 10*math.Log10(all/float64(g.Len()))-surface > overNoise[k+1] {
				k++
			}
			s.all[k]++
			if 2*within >= all {
				s.hit[k]++
			}
		}
	}

	near := func(c int, f detect.Found) bool {
		return slices.ContainsFunc(added[c], func(g audio.Gap) bool { return g.Start-clearOf < f.End && f.Start < g.End+clearOf })
	}
	for _, f := range found {
		switch c := max(0, f.Channel-1); {
		case near(c, f):
		case near(1-c, f):
			s.wrong++
		default:
			s.false++
		}
	}
	s.seconds += float64(len(y[0])) / float64(rate)
}

// showDiscs prints a row for each noise, level of clicks and search.
func showDiscs(w io.Writer, scores *[2][2][5]discScore) {
	fmt.Fprintln(w, "| noise | clicks | search | recall: below 5 dB over the noise | 5 to 10 dB | above | all | other wall per second | false per second |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for i, noise := range discNoise {
		for j := range len(discClicks) + 1 {
			for m, search := range []string{"each channel", "and the difference"} {
				level := "none"
				if j < len(discClicks) {
					level = fmt.Sprintf("%g dB", discClicks[j])
				}
				s := &scores[m][i][j]
				fmt.Fprintf(w, "| %g dB | %s | %s |", noise, level, search)
				hit, all := 0, 0
				for k := range s.all {
					hit, all = hit+s.hit[k], all+s.all[k]
					fmt.Fprintf(w, " %d of %d |", s.hit[k], s.all[k])
				}
				fmt.Fprintf(w, " %.2f | %.2f | %.2f |\n", float64(hit)/math.Max(1, float64(all)), float64(s.wrong)/s.seconds,
					float64(s.false)/s.seconds)
			}
		}
	}
}
