package gift

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

// A value is a number that may be missing, which JSON writes as null.
type value float64

func (v *value) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*v = value(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(v))
}

// plain converts values.
func plain(values []value) (out []float64) {
	for _, v := range values {
		out = append(out, float64(v))
	}
	return out
}

// A line is a series of a file.
type line struct {
	Name      string                `json:"name"`
	Start     string                `json:"start"`
	Train     []value               `json:"train"`
	Test      []value               `json:"test"`
	Published map[string][2]float64 `json:"published"` // MASE and sMAPE of each published method
}

func (l *line) check() error {
	if l.Name == "" || len(l.Train) < 3 || len(l.Test) == 0 {
		return errors.New("the series must have a name, at least three training values, and test values")
	}
	return nil
}

// contest reads the series of a competition, which have one origin each.
func contest(t *Task, data string) (all []Problem, err error) {
	path := filepath.Join(data, t.file)
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	lines, err := jsonl.Read(path, func(l *line) error {
		_, wrong := t.step.parse(l.Start)
		return cmp.Or(l.check(), wrong)
	})
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("%s: no series", path)
	}
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		start := l.Start
		if start == "" {
			start = t.start
		}
		p := Problem{Series: l.Name, Past: plain(l.Train), Future: plain(l.Test), Published: l.Published, start: start}
		all = append(all, p)
	}
	return all, nil
}

// births reads births per day, adds them up to the task's steps, and returns the leaderboard's windows. A last step
// with fewer days is left out.
func births(t *Task, data string) ([]Problem, error) {
	path := filepath.Join(data, t.file)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var blocks []float64
	var first time.Time
	for i, row := range rows[min(1, len(rows)):] {
		day, err := time.Parse(time.DateOnly, row[0])
		y, bad := strconv.ParseFloat(row[len(row)-1], 64)
		if err := errors.Join(err, bad); err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", path, i+1, err)
		}
		if i == 0 {
			first = day
		}
		if !day.Equal(first.AddDate(0, 0, i)) {
			return nil, fmt.Errorf("%s: row %d: %s must be one day after the previous row", path, i+1, row[0])
		}
		if !day.Before(t.step.add(first, len(blocks))) {
			blocks = append(blocks, 0)
		}
		blocks[len(blocks)-1] += y
	}
	if last := len(blocks) - 1; last >= 0 && t.step.add(first, last+1).After(first.AddDate(0, 0, len(rows)-1)) {
		blocks = blocks[:last]
	}
	if len(blocks) < 3*t.horizon {
		return nil, fmt.Errorf("%s: %d rows: must be at least %d", path, len(blocks), 3*t.horizon)
	}
	return windows(Problem{Series: "births", Past: blocks, start: t.step.format(first)}, t.horizon), nil
}
