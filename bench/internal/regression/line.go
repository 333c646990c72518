package regression

import (
	"fmt"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A Line is the result of a method, of this program or a peer, on a problem.
type Line struct {
	Machine machine.Machine   `json:"machine"`
	Time    string            `json:"time"`
	Bench   string            `json:"bench"`
	Kind    string            `json:"kind"`
	Seed    int               `json:"seed"`
	Half    string            `json:"half"`
	N       int               `json:"N"`
	Digest  string            `json:"data"` // of the problem
	Method  string            `json:"method"`
	Seconds float64           `json:"seconds"` // of the fit and the predictions
	CPU     float64           `json:"cpu_seconds"`
	Places  map[string]Scores `json:"places"`
	Found   string            `json:"found,omitempty"` // description of the model
	Status  string            `json:"status"`
}

// A measurement identifies what a line measures.
type measurement struct {
	kind   string
	seed   int
	method string
}

func (l Line) measurement() measurement { return measurement{l.Kind, l.Seed, l.Method} }

func (l *Line) check() error {
	if l.Bench != "regression" || l.Kind == "" || l.Method == "" || l.Seed < 0 || l.Half != Half(l.Seed) {
		return fmt.Errorf("bench %q, kind %q, seed %d, half %q, method %q: not a line of bench regression", l.Bench, l.Kind,
			l.Seed, l.Half, l.Method)
	}
	return nil
}

// Read reads the lines of files. Of several lines with the same kind, seed and method, the last is returned.
func Read(paths ...string) (lines []Line, err error) {
	for _, path := range paths {
		some, err := jsonl.Read(path, (*Line).check)
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("%s: no lines", path)
		}
		for _, l := range some {
			lines = jsonl.Put(lines, l, Line.measurement)
		}
	}
	return lines, nil
}
