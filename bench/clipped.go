package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit/cputime"
)

// clippedTask is `bench clipped`.
type clippedTask struct {
	sdr, method, python string
	from, seconds       float64
	out, commit         string
	show                bool
	files               []string
	ratios              []float64 // decibels
	methods             []string
}

// oursClipped is the method of this program.
const oursClipped = "vssgp"

// clippedPeers are the other methods. Each returns a command that reads samples from the file in and writes the restored ones
// to the file out, both float64. peak is the largest magnitude of the undamaged sound.
var clippedPeers = map[string]func(o *clippedTask, script, in, out string, rate int, peak float64) []string{
	"adeclip": func(_ *clippedTask, _, in, out string, rate int, _ float64) []string {
		return adeclip("adeclip", in, out, rate)
	},
	"adeclip-tuned": func(_ *clippedTask, _, in, out string, rate int, _ float64) []string {
		return adeclip(adeclipTuned, in, out, rate)
	},
	"spade": (*clippedTask).spade,
}

// adeclipTuned has the highest mean gain on the recordings for tuning, of the default and some settings.
const adeclipTuned = "adeclip=m=s:a=25"

// adeclip returns a command of ffmpeg.
func adeclip(filter, in, out string, rate int) []string {
	raw := []string{"-f", "f64le", "-ar", strconv.Itoa(rate), "-ac", "1"}
	args := slices.Concat([]string{"ffmpeg", "-y", "-v", "error", "-threads", "1"}, raw, []string{"-i", in, "-af", filter}, raw)
	return append(args, out)
}

// spade returns a command of peers/spade.py.
func (o *clippedTask) spade(script, in, out string, rate int, peak float64) []string {
	return []string{o.python, script, in, out, "--rate", strconv.Itoa(rate), "--peak", strconv.FormatFloat(peak, 'g', -1, 64)}
}

func (o *clippedTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.sdr, "sdr", "1,3,5,7,10,15", "ratios of the sound to the distortion by the clipping, in decibels")
	set.Float64Var(&o.from, "from", 1./3, "start of the excerpt, as a share of the recording")
	set.Float64Var(&o.seconds, "seconds", 1, "maximum duration of the excerpt in seconds")
	set.StringVar(&o.method, "method", oursClipped, "methods: vssgp,adeclip,adeclip-tuned,spade")
	set.StringVar(&o.python, "python", "python3", "Python interpreter with NumPy, for spade")
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	set.BoolVar(&o.show, "show", false, "print the table of the lines in the given file; restore nothing")
	commitFlag(set, &o.commit)
}

func (o *clippedTask) check(files []string) error {
	o.files, o.methods = files, list(o.method)
	for _, s := range list(o.sdr) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v > 0 && v < 100) {
			return fmt.Errorf("-sdr %q: must be positive numbers below 100 separated by commas", o.sdr)
		}
		o.ratios = append(o.ratios, v)
	}
	names := append(slices.Sorted(maps.Keys(clippedPeers)), oursClipped)
	return cmp.Or(
		demand(len(files) > 0, "no files given; undamaged recordings are required, or with -show a file of lines"),
		demand(o.from >= 0 && o.from < 1 && o.seconds > 0, "-from %g -seconds %g: must be at least 0 and below 1, and positive",
			o.from, o.seconds),
		known("method", o.methods, names))
}

// A clippedLine is the result of one method for an excerpt clipped at one level.
type clippedLine struct {
	Machine machine.Machine `json:"machine"`
	Time    string          `json:"time"`
	Bench   string          `json:"bench"`
	File    string          `json:"file"`
	Rate    int             `json:"rate"`
	Length  float64         `json:"length"` // duration of the excerpt in seconds
	SDR     float64         `json:"sdr"`    // ratio of the sound to the distortion in decibels, as -sdr gives it
	Method  string          `json:"method"`
	Missing float64         `json:"missing"`              // share of clipped samples
	Found   float64         `json:"found,omitempty"`      // share of the clipped samples that vssgp finds
	Wrong   float64         `json:"wrong,omitempty"`      // unclipped samples that vssgp finds, as a share of the clipped ones
	All     float64         `json:"gain"`                 // increase of the SDR of the excerpt in decibels
	Clipped float64         `json:"gain_clipped"`         // increase of the SDR of the clipped samples
	Covered float64         `json:"coverage95,omitempty"` // share of the clipped samples in our 95 % intervals
	CPU     float64         `json:"cpu"`                  // CPU time over the duration
	Status  string          `json:"status"`
}

func (o *clippedTask) run() error {
	if o.show {
		lines, err := jsonl.Read[clippedLine](o.files[0], nil)
		if err != nil {
			return err
		}
		showClipped(os.Stdout, lines)
		return nil
	}
	ctx, stop := interruptible()
	defer stop()
	var lines []clippedLine
	for _, path := range o.files {
		r, err := audio.Open(path)
		if err != nil {
			return err
		}
		x := r.Samples[0][int(o.from*float64(r.Len())):]
		x = x[:min(len(x), int(o.seconds*float64(r.Rate)))]
		for _, ratio := range o.ratios {
			for _, method := range o.methods {
				l, err := o.restore(ctx, x, r.Rate, ratio, method)
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				l.Machine, l.Time, l.Bench, l.File = machine.This(o.commit), machine.Now(), "clipped", filepath.Base(path)
				l.Rate, l.Length, l.SDR, l.Method = r.Rate, float64(len(x))/float64(r.Rate), ratio, method
				lines = append(lines, *l)
				if err := jsonl.Append(o.out, l); err != nil {
					return err
				}
			}
		}
	}
	showClipped(os.Stdout, lines)
	return nil
}

// clippedStep is the quantization step of the clipped sound, and fullScale its largest value.
const (
	clippedStep = 1. / 32768
	fullScale   = 1 - clippedStep
)

// clipAt amplifies x until clipping at full scale causes the given ratio of the sound to the distortion, in decibels. It returns
// the amplified sound, and the clipped sound of 16 bits.
func clipAt(x []float64, ratio float64) (loud, clipped []float64) {
	loud, clipped = make([]float64, len(x)), make([]float64, len(x))
	low, high := 0.0, floats.Norm(x, math.Inf(1))
	for range 60 {
		level := (low + high) / 2
		for i, v := range x {
			loud[i] = v / level * fullScale
			clipped[i] = clippedStep * math.RoundToEven(max(-fullScale, min(fullScale, loud[i]))/clippedStep)
		}
		if audio.SNR(loud, clipped, nil) > ratio {
			high = level
		} else {
			low = level
		}
	}
	return loud, clipped
}

// restore clips x and restores it by one method.
func (o *clippedTask) restore(ctx context.Context, x []float64, rate int, ratio float64, method string) (l *clippedLine, err error) {
	loud, y := clipAt(x, ratio)
	truth, n := make([]bool, len(x)), 0
	for i, v := range loud {
		if truth[i] = math.Abs(v) > fullScale; truth[i] {
			n++
		}
	}
	l = &clippedLine{Missing: float64(n) / float64(len(x)), Status: "ok"}
	seconds, began, z := 0.0, cputime.Now(), y
	if method == oursClipped {
		z, err = restoreOurs(ctx, l, loud, y, truth, rate)
		seconds = (cputime.Now() - began).Seconds()
	} else {
		z, seconds, err = o.restorePeer(ctx, method, y, rate, floats.Norm(loud, math.Inf(1)))
		if err != nil && ctx.Err() == nil {
			l.Status, err = fmt.Sprintf("failed: %v", strings.TrimRight(err.Error(), ": ")), nil
		}
	}
	if err != nil || l.Status != "ok" {
		return l, err
	}
	l.All = audio.SNR(loud, z, nil) - audio.SNR(loud, y, nil)
	l.Clipped = audio.SNR(loud, z, truth) - audio.SNR(loud, y, truth)
	l.CPU = seconds * float64(rate) / float64(len(x))
	return l, nil
}

// restoreOurs finds and restores the clipped samples of y, and adds the scores of the detection and the intervals to the line.
func restoreOurs(ctx context.Context, l *clippedLine, loud, y []float64, truth []bool, rate int) ([]float64, error) {
	options := detect.Options{Kinds: []detect.Kind{detect.Clipped}, Sensitivity: detect.DefaultSensitivity, Step: clippedStep}
	found, err := detect.Find(ctx, audio.Samples{y}, len(y), rate, options)
	if err != nil || len(found) == 0 {
		return y, err
	}
	gaps := make([]audio.Gap, len(found))
	for i, f := range found {
		gaps[i] = f.Gap
	}
	r, err := restore.Fill(ctx, [][]float64{y}, rate, gaps, restore.Options{})
	if err != nil {
		return nil, err
	}
	right, wrong, covered := 0.0, 0.0, 0.0
	for fill := range r.All() {
		for i, m := range fill.Mean {
			at := fill.Gap.Start + i
			if !truth[at] {
				wrong++
				continue
			}
			right++
			if math.Abs(loud[at]-m) <= 1.96*fill.SD[i] {
				covered++
			}
		}
	}
	clipped := l.Missing * float64(len(y))
	l.Found, l.Wrong, l.Covered = right/clipped, wrong/clipped, covered/max(1, right)
	return r.Apply([][]float64{y}, -1)[0], nil
}

// restorePeer restores y by another program and returns its CPU time in seconds.
func (o *clippedTask) restorePeer(ctx context.Context, method string, y []float64, rate int, peak float64) (
	z []float64, seconds float64, err error) {
	err = withScript("spade.py", func(dir, script string) error {
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		data, err := binary.Append(nil, binary.LittleEndian, y)
		if err != nil {
			return err
		}
		if err := os.WriteFile(in, data, 0o666); err != nil {
			return err
		}
		args := clippedPeers[method](o, script, in, out, rate, peak)
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
		if _, stderr, err := output(cmd); err != nil {
			return fmt.Errorf("%w: %s", err, lastLine([]byte(stderr)))
		}
		seconds = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		if data, err = os.ReadFile(out); err != nil {
			return err
		}
		z = slices.Clone(y) // ffmpeg omits the end of the sound
		_, err = binary.Decode(data[:min(len(data), 8*len(y))/8*8], binary.LittleEndian, z[:min(len(data)/8, len(z))])
		return err
	})
	return z, seconds, err
}

// showClipped prints a row for each ratio and method: the mean and the smallest gain of all recordings.
func showClipped(w io.Writer, lines []clippedLine) {
	type key struct {
		sdr    float64
		method string
	}
	fmt.Fprint(w, "| SDR, dB | method | clipped | found | wrong | gain, dB: mean | least | gain of the clipped samples: mean | least | ",
		"coverage | CPU time over duration |\n", rule(11))
	for _, of := range jsonl.Groups(lines, func(l clippedLine) key { return key{l.SDR, l.Method} }) {
		var missing, found, wrong, all, clipped, covered, cpu []float64
		failed := ""
		for _, l := range of {
			if l.Status != "ok" {
				failed = l.Status
				continue
			}
			missing, found, wrong = append(missing, l.Missing), append(found, l.Found), append(wrong, l.Wrong)
			all, clipped = append(all, l.All), append(clipped, l.Clipped)
			covered, cpu = append(covered, l.Covered), append(cpu, l.CPU)
		}
		if failed != "" {
			fmt.Fprintf(w, "| %g | %s | %s |\n", of[0].SDR, of[0].Method, failed)
			continue
		}
		mean := func(v []float64) float64 { return stat.Mean(v, nil) }
		ours := strings.Repeat("– | ", 2)
		coverage := "–"
		if of[0].Method == oursClipped {
			ours = fmt.Sprintf("%.3f | %.3f | ", mean(found), mean(wrong))
			coverage = fmt.Sprintf("%.2f", mean(covered))
		}
		fmt.Fprintf(w, "| %g | %s | %.3f | %s%.1f | %.1f | %.1f | %.1f | %s | %.2f |\n", of[0].SDR, of[0].Method, mean(missing), ours,
			mean(all), floats.Min(all), mean(clipped), floats.Min(clipped), coverage, mean(cpu))
	}
}
