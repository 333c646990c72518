package audio

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadGaps reads the gaps of a recording of a rate from one of two kinds of text. Errors name the line. There must be at least one
// gap; CheckGaps says whether the gaps fit a recording.
//
// CSV has the header start,end or start,end,channel, then one line per gap, the end exclusive, as ParseGap reads positions: in samples
// (1200) or times (0.5s, 520ms). A channel counts from 1; an empty one means all.
//
// Labels are lines of start, end and a text, apart by tabs, in seconds, as WriteLabels and Audacity write them. A text that ends in
// @CHANNEL means that channel. Lines that begin with a backslash, which hold frequencies, are skipped.
func ReadGaps(src io.Reader, rate int) ([]Gap, error) {
	if src == nil {
		return nil, fmt.Errorf("audio: gaps from nil: %w: want a reader", ErrArgument)
	}
	if rate <= 0 {
		return nil, fmt.Errorf("audio: gaps at %d samples a second: %w: want a positive rate", rate, ErrArgument)
	}
	b := bufio.NewReader(src)
	if bom, err := b.Peek(len(byteOrderMark)); err == nil && string(bom) == byteOrderMark { // some spreadsheets begin with one
		b.Discard(len(byteOrderMark))
	}
	head, err := b.Peek(mostField)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if first, _, ok := strings.Cut(string(head), "\t"); ok && first != "" && strings.Trim(first, " 0123456789.,-") == "" {
		return readLabels(b, rate)
	}
	return readCSV(b, rate)
}

const (
	byteOrderMark = "\ufeff"
	// mostField is how long a time in a label file may be.
	mostField = 64
)

// readCSV reads gaps from CSV.
func readCSV(src io.Reader, rate int) ([]Gap, error) {
	r := csv.NewReader(src)
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
			return nil, fmt.Errorf("%w: no gap after the header; want lines START,END in samples or times", ErrGaps)
		case err == io.EOF:
			return gaps, nil
		case errors.As(err, &bad):
			return nil, fmt.Errorf("line %d: %w: %v; want START,END in samples or times", bad.Line, ErrGaps, bad.Err)
		case err != nil:
			return nil, err
		}
		line, _ := r.FieldPos(0)
		if first {
			for i := range rec {
				rec[i] = strings.TrimSpace(rec[i])
			}
			if head := strings.Join(rec, ","); head != "start,end" && head != "start,end,channel" {
				return nil, fmt.Errorf("line %d: %w: header %.40q; want start,end or start,end,channel", line, ErrGaps, head)
			}
			continue
		}
		g, err := csvGap(rec, rate)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		gaps = append(gaps, g)
	}
}

// csvGap reads the fields of one line.
func csvGap(rec []string, rate int) (g Gap, err error) {
	if g.Start, err = parsePosition(rec[0], rate); err != nil {
		return g, err
	}
	if g.End, err = parsePosition(rec[1], rate); err != nil {
		return g, err
	}
	if len(rec) > 2 && strings.TrimSpace(rec[2]) != "" {
		if g.Channel, err = parseChannel(rec[2]); err != nil {
			return g, err
		}
	}
	return g, g.check()
}
