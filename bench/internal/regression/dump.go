package regression

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// A dumped problem is a line of the file of descriptions.
type dumped struct {
	Machine machine.Machine `json:"machine"`
	*Problem
}

// Dump writes problems to a folder: their descriptions as lines of JSON, the rows to KIND.SEED.train.csv, and the
// points of each place to KIND.SEED.PLACE.csv.
func Dump(dir string, problems []*Problem, m machine.Machine) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var index []dumped
	for _, p := range problems {
		index = append(index, dumped{m, p})
		all := append([]Place{{Name: "train", X: p.X, Y: p.Y}}, p.Places...)
		for _, at := range all {
			var rows []float64
			for i, x := range at.X {
				rows = append(rows, x, at.Y[i])
			}
			path := filepath.Join(dir, fmt.Sprintf("%s.%d.%s.csv", p.Kind, p.Seed, at.Name))
			if err := matrix.WriteCSV(path, []string{"x", "y"}, rows); err != nil {
				return err
			}
		}
	}
	return jsonl.Write(filepath.Join(dir, "problems.jsonl"), index)
}
