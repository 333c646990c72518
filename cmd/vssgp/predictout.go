package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/table"
)

// format is what a path's extension asks predict to write.
type format int

const (
	noFormat format = iota
	csvFile         // also stdout
	npyFile
	wavFile
)

func formatOf(path string) format {
	if path == toStdout {
		return csvFile
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return csvFile
	case ".npy":
		return npyFile
	case ".wav", ".wave":
		return wavFile
	}
	return noFormat
}

// checkFormats looks at what the command line alone can tell of predict's
// outputs.
func (a *app) checkFormats(o *predictFlags) error {
	if err := a.wantOutput(o.output, "OUT.csv"); err != nil {
		return err
	}
	to := formatOf(o.output)
	switch {
	case to == noFormat:
		return mistake("-o %s: no such format; want .csv, .npy, .wav or - for stdout", o.output)
	case to == wavFile && o.full:
		return mistake("--full: a recording has no place for covariances; want -o with .csv or .npy")
	case o.drawsFile != "" && o.draws == 0:
		return mistake("--draws-file %s: no draws are asked for; want --draws and how many", o.drawsFile)
	case o.drawsFile == toStdout || o.drawsFile != "" && formatOf(o.drawsFile) == noFormat:
		return mistake("--draws-file %s: no such format; want .csv, .npy or .wav", o.drawsFile)
	}
	paths := []string{o.output, o.plot}
	if at := o.drawsPath(); at != "" {
		paths = append(paths, drawnFiles(at, o.draws)...)
	}
	return a.checkOutputs(paths...)
}

// drawsPath is where draws go that are no columns of the output; "" if nowhere.
func (o *predictFlags) drawsPath() string {
	if o.drawsFile == "" && o.draws > 0 && formatOf(o.output) == wavFile {
		return o.output
	}
	return o.drawsFile
}

// drawnFiles are the files that n draws take: a recording each, or one table.
func drawnFiles(path string, n int) []string {
	if formatOf(path) != wavFile {
		return []string{path}
	}
	return numberedFiles(path, n)
}

// prediction is what predict writes.
type prediction struct {
	m      *vssgp.Model
	inputs *table.Table
	p      *vssgp.Prediction
	draws  []*mat.Dense // [draw][N,D]
}

// writePrediction writes every output together or none, and gives the columns
// of the table, none for a recording.
func (a *app) writePrediction(r *prediction, o *predictFlags) (columns []string, err error) {
	var files []atomicfile.File
	own := *o // what the output itself has
	if at := o.drawsPath(); at != "" {
		own.draws = 0
		if files, err = drawFiles(r, at); err != nil {
			return nil, err
		}
	}
	if formatOf(o.output) == wavFile {
		mean := mat.NewDense(r.p.N, r.p.D, r.p.Mean)
		f, err := recordingOf(o.output, r.inputs, mean)
		if err != nil {
			return nil, err
		}
		return nil, a.write(append(files, f)...)
	}
	var drawn []*mat.Dense
	if own.draws > 0 {
		drawn = r.draws
	}
	out, err := tabulate(r.p, drawn, r.inputs, outputNames(r.m), &own)
	if err != nil {
		return nil, err
	}
	if o.output != toStdout {
		files = append(files, atomicfile.File{Path: o.output, Write: func(w io.Writer) error { return writeTable(w, o.output, out) }})
	}
	if err := a.write(files...); err != nil || o.output != toStdout {
		return out.Names, err
	}
	return out.Names, a.writeOutput(toStdout, func(w io.Writer) error { return writeTable(w, toStdout, out) })
}

// drawFiles are the draws by themselves: a table of the inputs and a column for
// each draw and output, an array [draws,N,D], or a recording each.
func drawFiles(r *prediction, path string) ([]atomicfile.File, error) {
	switch formatOf(path) {
	case wavFile:
		var files []atomicfile.File
		for i, name := range drawnFiles(path, len(r.draws)) {
			f, err := recordingOf(name, r.inputs, r.draws[i])
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
		return files, nil
	case npyFile:
		var data []float64
		for _, f := range r.draws {
			data = append(data, f.RawMatrix().Data...)
		}
		shape := []int{len(r.draws), r.p.N, r.p.D}
		return []atomicfile.File{{Path: path, Write: func(w io.Writer) error { return table.WriteNPY(w, shape, data) }}}, nil
	}
	out := &table.Table{Rows: r.p.N, Names: append(append([]string(nil), r.inputs.Names...), drawNames(outputNames(r.m), len(r.draws))...)}
	if err := distinct(out.Names); err != nil {
		return nil, err
	}
	for n := range r.p.N {
		out.Data = append(out.Data, r.inputs.Data[n*r.inputs.Cols:][:r.inputs.Cols]...)
		for _, f := range r.draws {
			out.Data = append(out.Data, f.RawRowView(n)...)
		}
	}
	return []atomicfile.File{{Path: path, Write: func(w io.Writer) error { return table.WriteCSV(w, out.Names, out.Data) }}}, nil
}

// recordingOf is values [N,D] at evenly spaced inputs as a WAV file of 32-bit
// floats, an output a channel.
func recordingOf(path string, inputs *table.Table, values *mat.Dense) (atomicfile.File, error) {
	rate, err := sampleRate(inputs)
	if err != nil {
		return atomicfile.File{}, fmt.Errorf("%s: %w", path, err)
	}
	_, d := values.Dims()
	samples := make([][]float64, d)
	for c := range samples {
		samples[c] = mat.Col(nil, c, values)
	}
	r, _, err := audio.New(rate, audio.Float32, samples) // floats clip only what float32 cannot hold
	if err != nil {
		return atomicfile.File{}, fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.File{Path: path, Write: func(w io.Writer) error { return r.Write(w, audio.WAV) }}, nil
}

// rateTolerance is how far an input may be from its sample, in samples.
const rateTolerance = 0.01

// sampleRate is how many of the inputs, which rise evenly, make one unit.
func sampleRate(t *table.Table) (int, error) {
	x := t.Data
	if t.Cols != 1 || t.Rows < 2 || !(x[t.Rows-1] > x[0]) {
		return 0, mistake("a recording needs one input that rises evenly in seconds; the inputs have %d columns and %d rows: want .csv or .npy", t.Cols, t.Rows)
	}
	rate := math.Round(float64(t.Rows-1) / (x[t.Rows-1] - x[0]))
	for i, v := range x {
		if off := (v-x[0])*rate - float64(i); !(math.Abs(off) <= rateTolerance) || rate < 1 || rate > math.MaxInt32 {
			return 0, mistake("a recording needs inputs that rise by 1/rate seconds; input %d (%v) is no sample of one at %.0f a second: want .csv or .npy", i, v, rate)
		}
	}
	return int(rate), nil
}

// readPlaces reads where to predict: a table, or the times of a recording's
// samples in seconds for a model of a recording.
func readPlaces(ctx context.Context, path string, c columns, m *vssgp.Model) (*table.Table, error) {
	if isTable(path) {
		return readInputs(path, c, m.Params.Q, m.XNames)
	}
	if c.x != nil {
		return nil, mistake("%s: --x chooses columns of a table, this is taken for a recording (want .csv or .npy)", path)
	}
	if own := inputNames(m); len(own) != 1 || len(m.XNames) == 1 && own[0] != secondsName {
		return nil, mistake("%s: taken for a recording, whose input is time in seconds; the model's is %s: want a table, .csv or .npy", path, strings.Join(clip(own), ", "))
	}
	r, err := openRecording(ctx, path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t := &table.Table{Names: []string{secondsName}, Rows: r.Len(), Cols: 1, Data: make([]float64, r.Len())}
	for i := range t.Data {
		t.Data[i] = float64(i) / float64(r.Rate())
	}
	return t, nil
}
