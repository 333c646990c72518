package paper

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
	"github.com/vssgp/vssgp/internal/score"
	"github.com/vssgp/vssgp/internal/table"
)

// A series is y over one input.
type series struct {
	file, sum string
	x, y      []float64
}

// file finds a data file: in the folder of data, or, for a quick run, what
// stands in for it in the repository's testdata.
func (s *session) file(name, standIn string) (path, sum string, err error) {
	path = filepath.Join(s.Data, name)
	if s.Quick {
		path = filepath.Join("testdata", standIn)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !s.Quick {
		return "", "", fmt.Errorf("%s (bench/README.md says where to get it; -data names the folder): %w", path, errMissing)
	}
	if err != nil {
		return "", "", err
	}
	hash := sha256.Sum256(text)
	return path, hex.EncodeToString(hash[:]), nil
}

// series reads a table of two columns.
func (s *session) series(name, standIn string) (*series, error) {
	path, sum, err := s.file(name, standIn)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := table.ReadCSV(f, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if t.Cols != 2 {
		return nil, fmt.Errorf("%s: %d columns, want two", path, t.Cols)
	}
	out := &series{file: filepath.Base(path), sum: sum}
	for i := range t.Rows {
		out.x, out.y = append(out.x, t.Data[2*i]), append(out.y, t.Data[2*i+1])
	}
	return out, nil
}

// split parts the rows that left names from the others; test is nil where it
// names none.
func (s *series) split(left []bool) (train, test *vssgp.Data, err error) {
	var rows [2][]float64
	var outs [2][]float64
	for i, out := range left {
		to := 0
		if out {
			to = 1
		}
		rows[to], outs[to] = append(rows[to], s.x[i]), append(outs[to], s.y[i])
	}
	train, err = vssgp.NewData(column(rows[0]), column(outs[0]))
	if err != nil {
		return nil, nil, err
	}
	if len(rows[1]) == 0 {
		return train, nil, nil
	}
	test, err = vssgp.NewData(column(rows[1]), column(outs[1]))
	return train, test, err
}

func column(v []float64) *mat.Dense { return mat.NewDense(len(v), 1, v) }

// fill takes what a fit found into a line, with its scores on both parts.
func (l *Line) fill(f *baseline.Fit, train, test *vssgp.Data) error {
	l.Seconds, l.Iterations, l.Ended = f.Elapsed.Seconds(), f.Iterations, f.Ended
	bound := f.Bound
	l.Bound = &bound
	c := f.Covariance
	l.Learnt = &Learnt{Lengthscale: c.Lengthscale, Variance: c.Variance, NoiseSD: f.NoiseSD}
	for _, p := range c.Frequency {
		if p != 0 {
			p = 1 / p
		}
		l.Learnt.Period = append(l.Learnt.Period, p)
	}
	l.Scores = map[Score]float64{}
	atTrain, err := f.Model.Predict(column(train.X))
	if err != nil {
		return err
	}
	l.Scores[TrainRMSE] = score.RMSE(atTrain.Mean, train.Y)
	if test == nil {
		return nil
	}
	atTest, err := f.Model.Predict(column(test.X))
	if err != nil {
		return err
	}
	l.Scores[TestRMSE] = score.RMSE(atTest.Mean, test.Y)
	sd := atTest.SD(true)
	l.Scores[Coverage], l.Scores[NLPD] = score.Coverage(atTest.Mean, sd, test.Y), score.NLPD(atTest.Mean, sd, test.Y)
	return nil
}
