package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// A tableSplit contains rows of a table for training and for testing.
type tableSplit struct {
	table  string
	number int
	names  []string // of the columns
	train  *vssgp.Data
	tests  []testPart
}

// The places of test rows, in the order of their scores.
const pointsPlace, holesPlace = "points", "holes"

// A testPart consists of the test rows of a place.
type testPart struct {
	place string
	*vssgp.Data
}

// eachSplit calls do with the splits of all files and folders. It stops at the first error.
func (o *tablesTask) eachSplit(do func(*tableSplit) error) error {
	for _, path := range o.files {
		each := o.drawSplits
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			each = o.readSplits
		}
		if err := each(path, do); err != nil {
			return err
		}
	}
	return nil
}

// drawSplits draws the splits of a CSV file.
func (o *tablesTask) drawSplits(path string, do func(*tableSplit) error) error {
	t, err := matrix.ReadFull(path)
	if err != nil {
		return err
	}
	for i := range o.splits {
		s := &tableSplit{table: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), number: i, names: t.Names}
		if s.train, s.tests, err = o.parts(t, uint64(i)); err != nil {
			return fmt.Errorf("%s: %w", s.table, err)
		}
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

// Files of the rows of a split, after its table and number.
const trainFile, testFile, holesFile = ".train.csv", ".test.csv", ".holes.csv"

// readSplits reads the splits of a folder that write has written.
func (o *tablesTask) readSplits(folder string, do func(*tableSplit) error) error {
	files, err := fs.Glob(os.DirFS(folder), "*"+trainFile)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no splits, which are files TABLE.NUMBER%s", folder, trainFile)
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		s, err := readSplit(filepath.Join(folder, strings.TrimSuffix(file, trainFile)), o.outputs)
		if err != nil {
			return err
		}
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

// readSplit reads the files of a split, whose paths begin with path.
func readSplit(path string, outputs int) (s *tableSplit, err error) {
	number := filepath.Ext(path)
	s = &tableSplit{table: strings.TrimSuffix(filepath.Base(path), number)}
	if s.number, err = strconv.Atoi(strings.TrimPrefix(number, ".")); err != nil {
		return nil, fmt.Errorf("%s%s: must be named TABLE.NUMBER%s", path, trainFile, trainFile)
	}
	read := func(file string) (*vssgp.Data, error) {
		t, err := matrix.ReadFull(path + file)
		if err == nil {
			err = checkOutputs(t, outputs)
		}
		if err != nil {
			return nil, err
		}
		s.names = t.Names
		return someRows(t, outputs, nil), nil
	}
	if s.train, err = read(trainFile); err != nil {
		return nil, err
	}
	test, err := read(testFile)
	if err != nil {
		return nil, err
	}
	s.tests = []testPart{{pointsPlace, test}}
	switch holes, err := read(holesFile); {
	case err == nil:
		s.tests = append(s.tests, testPart{holesPlace, holes})
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return s, nil
}

// write writes the rows of a split to files in the folder.
func (s *tableSplit) write(folder string) error {
	files := map[string]*vssgp.Data{trainFile: s.train, testFile: s.tests[0].Data}
	for _, p := range s.tests[1:] {
		files[holesFile] = p.Data
	}
	for file, d := range files {
		var all []float64
		for n := range d.N {
			all = append(all, d.X[n*d.Q:(n+1)*d.Q]...)
			all = append(all, d.Y[n*d.D:(n+1)*d.D]...)
		}
		path := filepath.Join(folder, fmt.Sprintf("%s.%d%s", s.table, s.number, file))
		if err := matrix.WriteCSV(path, s.names, all); err != nil {
			return err
		}
	}
	return nil
}

// checkOutputs returns an error unless the table has inputs besides the outputs.
func checkOutputs(t *matrix.Matrix, outputs int) error {
	columns := len(t.Names)
	return demand(outputs < columns, "%d outputs in %d columns; at least one column must be an input", outputs, columns)
}

// parts splits the rows outside of the holes, and returns the rows in them as another part.
func (o *tablesTask) parts(t *matrix.Matrix, seed uint64) (train *vssgp.Data, tests []testPart, err error) {
	var inside *matrix.Matrix
	if o.holes > 0 {
		if len(t.Names)-o.outputs < 2 {
			return nil, nil, fmt.Errorf("-holes requires at least two inputs")
		}
		t, inside = punch(t, o.holes, seed)
	}
	train, test, err := splitTable(t, o.outputs, seed)
	if err != nil {
		return nil, nil, err
	}
	tests = []testPart{{pointsPlace, test}}
	if inside != nil {
		tests = append(tests, testPart{holesPlace, someRows(inside, o.outputs, nil)})
	}
	return train, tests, nil
}

// tableSalt and holeSalt distinguish these random streams from others.
const tableSalt, holeSalt = 7, 8

// Limits of the number of holes and of their length along each input, relative to its range.
const (
	maxHoles                  = 1000
	shortestHole, longestHole = 0.04, 0.08
)

// punch returns the rows outside and inside of random holes. A hole is a rectangle of the first two inputs that has the
// same length relative to the range of each.
func punch(t *matrix.Matrix, holes int, seed uint64) (outside, inside *matrix.Matrix) {
	rng := rand.New(rand.NewPCG(seed, holeSalt))
	var low, span [2]float64
	for q := range low {
		x := outputOf(t.Data, q, len(t.Names))
		low[q] = slices.Min(x)
		span[q] = slices.Max(x) - low[q]
	}
	corners := make([][2][2]float64, holes) // lower and upper
	for i := range corners {
		length := shortestHole + (longestHole-shortestHole)*rng.Float64()
		for q := range low {
			from := low[q] + (1-length)*span[q]*rng.Float64()
			corners[i][0][q], corners[i][1][q] = from, from+length*span[q]
		}
	}
	outside, inside = &matrix.Matrix{Names: t.Names, Cols: t.Cols}, &matrix.Matrix{Names: t.Names, Cols: t.Cols}
	for row := range slices.Chunk(t.Data, len(t.Names)) {
		part := outside
		if slices.ContainsFunc(corners, func(c [2][2]float64) bool {
			return row[0] >= c[0][0] && row[0] <= c[1][0] && row[1] >= c[0][1] && row[1] <= c[1][1]
		}) {
			part = inside
		}
		part.Data = append(part.Data, row...)
		part.Rows++
	}
	return outside, inside
}

// someRows returns rows of a table, or all rows if rows is nil.
func someRows(t *matrix.Matrix, outputs int, rows []int) *vssgp.Data {
	columns := len(t.Names)
	q := columns - outputs
	if rows == nil {
		for r := range len(t.Data) / columns {
			rows = append(rows, r)
		}
	}
	d := &vssgp.Data{N: len(rows), Q: q, D: outputs}
	for _, r := range rows {
		d.X = append(d.X, t.Data[r*columns:r*columns+q]...)
		d.Y = append(d.Y, t.Data[r*columns+q:(r+1)*columns]...)
	}
	return d
}

// splitTable draws a tenth of the rows for testing. The seed is the split's number.
func splitTable(t *matrix.Matrix, outputs int, seed uint64) (train, test *vssgp.Data, err error) {
	if err := checkOutputs(t, outputs); err != nil {
		return nil, nil, err
	}
	n := len(t.Data) / len(t.Names)
	if n < 10 {
		return nil, nil, fmt.Errorf("the table has %d rows, must have at least ten", n)
	}
	order := rand.New(rand.NewPCG(seed, tableSalt)).Perm(n)
	return someRows(t, outputs, order[n/10:]), someRows(t, outputs, order[:n/10]), nil
}
