package main

import (
	"context"
	"io"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/table"
)

// mostJoint bounds the rows times outputs of a joint covariance, which has their square of numbers: 2 GiB.
const mostJoint = 1 << 14

// checkJoint refuses a joint covariance of too many numbers.
func checkJoint(path string, rows, outputs int) error {
	if rows*outputs > mostJoint {
		return mistake("--joint %s: %s of %s; want at most %d of both together", path, counted(rows, "row"), counted(outputs, "output"), mostJoint)
	}
	return nil
}

// jointFile is the output of --joint: [N,D,N,D], with the variance of the outputs' noise on the diagonal unless latent.
func jointFile(ctx context.Context, at *places, m *vssgp.Model, path string, latent bool) fileio.File {
	return fileio.File{Path: path, Write: func(w io.Writer) error {
		noiseSD := m.NoiseSD()
		n, d := at.rows, len(noiseSD)
		if err := checkJoint(path, n, d); err != nil {
			return err
		}
		x, err := at.all(ctx)
		if err != nil {
			return err
		}
		_, cov, err := m.PredictJoint(ctx, x)
		if err != nil {
			return err
		}
		to, err := table.NewNPYWriter(w, []int{n, d, n, d})
		if err != nil {
			return err
		}
		row := make([]float64, n*d)
		for i := range row {
			for j := range row {
				row[j] = cov.At(i, j)
			}
			if !latent {
				row[i] += noiseSD[i%d] * noiseSD[i%d]
			}
			if err := to.Write(row); err != nil {
				return err
			}
		}
		return to.Close()
	}}
}
