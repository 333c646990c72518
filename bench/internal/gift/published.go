package gift

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// entries lists the leaderboard's entries to show in addition to the best.
var entries = []string{"chronos-2", "TiRex", "TimesFM-2.5", "auto_arima", "auto_ets", "auto_theta", "seasonal_naive"}

// Published returns the published scores of a task: of the leaderboard's entries, sorted by CRPS, or of the
// competition's methods on the same series. It returns none if the file is missing.
func (t *Task) Published(data string, problems []Problem) ([]Line, error) {
	if t.leaderboard == "" {
		return competitors(problems), nil
	}
	path := filepath.Join(data, "benchmarks/gift_published.csv")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = 5 // task, entry, MASE, CRPS, MSIS
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var lines []Line
	for _, row := range rows {
		if row[0] != t.leaderboard {
			continue
		}
		l := Line{Method: row[1], Published: true, Status: machine.OK}
		for i, to := range []*float64{&l.MASE, &l.CRPS, &l.MSIS} {
			if *to, err = strconv.ParseFloat(row[i+2], 64); err != nil {
				return nil, fmt.Errorf("%s: %s of %s: %w", path, row[1], row[0], err)
			}
		}
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.CRPS, b.CRPS) })
	return lines, nil
}

// competitors returns the mean scores of the methods that published a forecast of each series.
func competitors(problems []Problem) (lines []Line) {
	for _, name := range slices.Sorted(maps.Keys(problems[0].Published)) {
		l := Line{Method: name, Published: true, Status: machine.OK}
		for i, p := range problems {
			scores, ok := p.Published[name]
			if !ok {
				break
			}
			l.MASE += scores[0] / float64(len(problems))
			l.SMAPE += scores[1] / float64(len(problems))
			if i == len(problems)-1 {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// rank returns the rank of a CRPS among published entries.
func rank(crps float64, published []Line) int {
	better := 1
	for _, l := range published {
		if l.CRPS < crps {
			better++
		}
	}
	return better
}

// shown returns the published lines to show: all of a competition or, of the leaderboard, the best and the entries.
func shown(t *Task, published []Line) (out []Line) {
	for i, l := range published {
		if t.leaderboard == "" || i == 0 || slices.Contains(entries, l.Method) {
			out = append(out, l)
		}
	}
	return out
}
