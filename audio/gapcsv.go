package audio

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadGaps reads gaps from CSV: the header start,end, then one line per gap, in samples, the end exclusive. Errors name the
// line. There must be at least one gap; CheckGaps says whether the gaps fit a recording.
func ReadGaps(src io.Reader) ([]Gap, error) {
	if src == nil {
		return nil, fmt.Errorf("audio: gaps from nil: %w: want a reader", ErrArgument)
	}
	r := csv.NewReader(src)
	r.FieldsPerRecord = 2
	r.TrimLeadingSpace = true
	r.ReuseRecord = true
	var gaps []Gap
	for first := true; ; first = false {
		rec, err := r.Read()
		var bad *csv.ParseError
		switch {
		case err == io.EOF && first:
			return nil, fmt.Errorf("line 1: %w: empty; want the header start,end", ErrGaps)
		case err == io.EOF && len(gaps) == 0:
			return nil, fmt.Errorf("%w: no gap after the header; want lines START,END in samples", ErrGaps)
		case err == io.EOF:
			return gaps, nil
		case errors.As(err, &bad):
			return nil, fmt.Errorf("line %d: %w: %v; want START,END in samples", bad.Line, ErrGaps, bad.Err)
		case err != nil:
			return nil, err
		}
		line, _ := r.FieldPos(0)
		if first {
			rec[0] = strings.TrimPrefix(rec[0], "\ufeff") // some spreadsheets begin with a byte-order mark
			if strings.TrimSpace(rec[0]) != "start" || strings.TrimSpace(rec[1]) != "end" {
				return nil, fmt.Errorf("line %d: %w: header %.40q; want start,end", line, ErrGaps, strings.Join(rec, ","))
			}
			continue
		}
		g, err := csvGap(rec)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		gaps = append(gaps, g)
	}
}

// csvGap reads the fields of one line.
func csvGap(rec []string) (Gap, error) {
	var v [2]int
	for i, s := range rec {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil || n > maxPosition {
			return Gap{}, fmt.Errorf("%w: %.40q is not a whole number of samples", ErrGaps, s)
		}
		v[i] = int(n)
	}
	g := Gap{Start: v[0], End: v[1]}
	return g, g.check()
}
