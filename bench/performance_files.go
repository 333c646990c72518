package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
	"github.com/vssgp/vssgp/internal/testkit/spoil"
)

// performanceCommands lists the command lines of `bench performance`, which run in the folder of performanceFiles with
// performanceFlags. They are jobs of the README, and the exact bound with its gradient by each kind of sum over the
// rows: from tables, with windows, and over all rows for several inputs. Each takes 0.3 to 2 processor seconds, so that
// the start of a process is negligible.
var performanceCommands = []string{
	"impute speech_gapped.wav --gaps speech_gaps.csv -o out.wav",
	"impute clicks.wav --detect clicks -o out.wav",
	"impute clipped.wav --detect clipped -o out.wav",
	"forecast airline.csv --horizon 24 -o out.csv",
	"forecast seattle.csv --horizon 30 -o out.csv",
	"fit co2_part.csv --method vssgp -o out.safetensors",
	"evaluate tables.safetensors tables.npy --inference exact --gradient",
	"evaluate windows.safetensors windows.npy --inference exact --gradient",
	"evaluate inputs.safetensors inputs.npy --inference exact --gradient",
	"predict conditioned.safetensors windows.npy --x 0 -o out.csv",
}

var performanceFlags = []string{"--seed", "1", "--device", "cpu", "--quiet"}

// performanceProblems maps the names of synthetic models and their data to their sizes.
var performanceProblems = map[string]sizes{
	"tables":      {N: 200_000, Q: 1, D: 1, Features: 512, Fitted: true, Seed: 1},
	"windows":     {N: 100_000, Q: 1, D: 1, Features: 40, Window: 512, Seed: 1},
	"inputs":      {N: 20_000, Q: 4, D: 1, Features: 512, Seed: 1},
	"conditioned": {N: 4000, Q: 1, D: 1, Features: 200, Seed: 1},
}

const (
	partRows      = 180 // rows of co2_part.csv, because a search takes too long on all rows
	clippedSDR    = 5   // decibels, of clipped.wav
	spoiledClicks = 30  // clicks in clicks.wav
	spoilSeed     = 1   // seed of the clicks
)

// performanceFiles writes the input files of performanceCommands to dir. They are files of the folder testdata and
// files that depend on fixed seeds alone.
func performanceFiles(ctx context.Context, dir string) error {
	for _, path := range []string{
		"speech_gapped.wav", "speech_gaps.csv", "co2_monthly.csv", "series/airline.csv", "series/seattle.csv",
	} {
		text, err := os.ReadFile(filepath.Join("testdata", path))
		if err != nil {
			return err
		}
		if path == "co2_monthly.csv" {
			lines := bytes.SplitAfter(text, []byte("\n"))
			text, path = bytes.Join(lines[:1+partRows], nil), "co2_part.csv"
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o666); err != nil {
			return err
		}
	}
	return errors.Join(performanceModels(ctx, dir), performanceSounds(dir))
}

// performanceModels writes performanceProblems. The model conditioned has a posterior for predictions.
func performanceModels(ctx context.Context, dir string) error {
	for name, s := range performanceProblems {
		p, err := s.build()
		if err == nil && name == "conditioned" {
			_, err = p.model.Condition(ctx, p.data)
		}
		if err != nil {
			return err
		}
		err = errors.Join(p.model.Save(filepath.Join(dir, name+".safetensors")),
			matrix.WriteNPY(filepath.Join(dir, name+".npy"), []int{p.N, p.Q + p.D}, joined(p.data)))
		if err != nil {
			return err
		}
	}
	return nil
}

// joined returns a matrix [N,Q+D] with the inputs and outputs of each row.
func joined(d *vssgp.Data) (rows []float64) {
	for n := range d.N {
		rows = append(append(rows, d.X[n*d.Q:(n+1)*d.Q]...), d.Y[n*d.D:(n+1)*d.D]...)
	}
	return rows
}

// performanceSounds writes recordings with clicks and clipped peaks.
func performanceSounds(dir string) error {
	r, err := audio.Open("testdata/speech.wav")
	if err != nil {
		return err
	}
	x := r.Samples[0]
	clicks, _ := spoil.Clicks(x, spoil.Shapes, spoiledClicks, 3, 40, 12, r.Rate, r.Encoding().Step(), spoilSeed)
	_, clipped := clipAt(x, clippedSDR)
	return errors.Join(
		writeWAV(filepath.Join(dir, "clicks.wav"), r.Rate, clicks),
		writeWAV(filepath.Join(dir, "clipped.wav"), r.Rate, clipped))
}

// writeWAV writes a channel with 16 bits.
func writeWAV(path string, rate int, x []float64) error {
	return fileio.Write(path, func(to io.Writer) error {
		w, err := audio.NewWriter(to, rate, audio.PCM16, 1, len(x))
		if err != nil {
			return err
		}
		return errors.Join(w.Write(x), w.Close())
	})
}
