package audio

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// A Label is a text attached to a part of a recording.
type Label struct {
	Gap
	Text string // without tabs, such as "clicks 97%"
	Line int    // line number in the input of ReadLabels, from 1; 0: none
}

const (
	// labelDigits is the number of decimals of a second. It distinguishes adjacent samples at any rate up to maxRate.
	labelDigits = 9
	// maxField is the maximum length of the first field in a label file.
	maxField      = 64
	byteOrderMark = "\ufeff"
)

// WriteLabels writes labels in Audacity's format: one line per label with start and end in seconds and the text, separated by tabs. The
// text of a label for one channel ends in @CHANNEL. ReadLabels reads the same samples and texts back.
func WriteLabels(w io.Writer, rate int, labels []Label) error {
	if w == nil || rate <= 0 {
		return fmt.Errorf("write labels: sample rate %d must be positive and writer %v not nil: %w", rate, w, ErrArgument)
	}
	b := bufio.NewWriter(w)
	for _, l := range labels {
		text := strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, l.Text)
		if l.Channel > 0 {
			text += fmt.Sprintf(" @%d", l.Channel)
		}
		fmt.Fprintf(b, "%.*f\t%.*f\t%s\n", labelDigits, float64(l.Start)/float64(rate), labelDigits, float64(l.End)/float64(rate), text)
	}
	return b.Flush() // returns the first write error
}

// WriteLabelsCSV writes labels as CSV with the header start,end,channel,label. Positions are in samples. ReadLabels reads the same labels
// back.
func WriteLabelsCSV(w io.Writer, labels []Label) error {
	if w == nil {
		return fmt.Errorf("write labels: the writer is nil: %w", ErrArgument)
	}
	c := csv.NewWriter(w)
	c.Write(csvHeader)
	for _, l := range labels {
		channel := ""
		if l.Channel > 0 {
			channel = strconv.Itoa(l.Channel)
		}
		c.Write([]string{strconv.Itoa(l.Start), strconv.Itoa(l.End), channel, l.Text})
	}
	c.Flush()
	return c.Error() // returns the first write error
}

// csvHeader is the full header of a CSV file of gaps.
var csvHeader = []string{"start", "end", "channel", "label"}

// labelOf returns the label of a gap. A text that begins with "clipped" marks clipped samples, and one that begins with "clicks" a
// click.
func labelOf(g Gap, text string, line int) Label {
	text = strings.TrimSpace(text)
	g.Clipped, g.Click = strings.HasPrefix(text, "clipped"), strings.HasPrefix(text, "clicks")
	return Label{g, text, line}
}

// ReadGaps reads gaps in the formats of ReadLabels, without their texts.
func ReadGaps(src io.Reader, rate int) (gaps []Gap, err error) {
	labels, err := ReadLabels(src, rate)
	for _, l := range labels {
		gaps = append(gaps, l.Gap)
	}
	return gaps, err
}

// ReadLabels reads gaps and their texts from CSV or from Audacity labels; rate is in Hz. Errors contain the line number and wrap ErrGaps.
// CheckGaps checks the gaps against a recording.
//
// CSV begins with the header start,end[,channel[,label]]. One line per gap follows, at least one. Positions have the notation of
// ParseGap: samples (1200) or times (0.5s, 520ms, 1:02.500), with an exclusive end. Channels are counted from 1; an empty channel means
// all.
//
// Audacity labels are lines with start and end in seconds and a text, separated by tabs. A text that ends in @CHANNEL selects a channel.
// Lines that begin with a backslash contain frequencies and are skipped.
func ReadLabels(src io.Reader, rate int) ([]Label, error) {
	if src == nil {
		return nil, fmt.Errorf("read gaps: the reader is nil: %w", ErrArgument)
	}
	if rate <= 0 {
		return nil, fmt.Errorf("read gaps: sample rate %d must be positive: %w", rate, ErrArgument)
	}
	b := bufio.NewReader(src)
	if bom, err := b.Peek(len(byteOrderMark)); err == nil && string(bom) == byteOrderMark { // some spreadsheets write one
		b.Discard(len(byteOrderMark))
	}
	head, err := b.Peek(maxField)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if first, _, ok := strings.Cut(string(head), "\t"); ok && first != "" && strings.Trim(first, " 0123456789.,-") == "" {
		return readLabels(b, rate)
	}
	return readCSV(b, rate)
}

// readCSV reads gaps from CSV.
func readCSV(src io.Reader, rate int) (all []Label, err error) {
	r := csv.NewReader(src)
	r.TrimLeadingSpace = true
	for first := true; ; first = false {
		rec, err := r.Read()
		var bad *csv.ParseError
		switch {
		case err == io.EOF:
			return all, nil
		case errors.As(err, &bad):
			return nil, fault.Errorf(ErrGaps, "line %d: %v, expected START,END in samples or times", bad.Line, bad.Err)
		case err != nil:
			return nil, err
		}
		line, _ := r.FieldPos(0)
		if first {
			for i := range rec {
				rec[i] = strings.TrimSpace(rec[i])
			}
			if n := len(rec); n < 2 || n > len(csvHeader) || !slices.Equal(rec, csvHeader[:n]) {
				return nil, fault.Errorf(ErrGaps, "line %d: %.40q, expected the CSV header start,end[,channel[,label]] or labels (seconds TAB "+
					"seconds TAB text)", line, strings.Join(rec, ","))
			}
			continue
		}
		fields := rec[:min(3, len(rec))]
		if len(fields) > 2 && strings.TrimSpace(fields[2]) == "" {
			fields = fields[:2]
		}
		g, err := gapOf(fields, rate)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		all = append(all, labelOf(g, strings.Join(rec[min(3, len(rec)):], ""), line))
	}
}

// readLabels reads Audacity labels.
func readLabels(src io.Reader, rate int) (all []Label, err error) {
	s := bufio.NewScanner(src)
	for line := 1; s.Scan(); line++ {
		text := strings.TrimRight(s.Text(), "\r")
		if text == "" || text[0] == '\\' {
			continue
		}
		l, err := parseLabel(text, line, rate)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		all = append(all, l)
	}
	if err := s.Err(); err != nil {
		return nil, fault.Errorf(ErrGaps, "labels: %w", err)
	}
	return all, nil
}

// parseLabel parses one Audacity label.
func parseLabel(s string, line, rate int) (l Label, err error) {
	part, g := strings.SplitN(s+"\t", "\t", 3), Gap{}
	if len(part) < 3 {
		return l, fault.Errorf(ErrGaps, "label %.40q must be START, END and a text, separated by tabs", s)
	}
	for i, to := range []*int{&g.Start, &g.End} {
		t, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(part[i]), ",", ".", 1), 64)
		n := math.Round(t * float64(rate))
		if err != nil || !(math.Abs(n) <= maxPosition) {
			return l, fault.Errorf(ErrGaps, "%.40q must be a time in seconds", part[i])
		}
		*to = int(n)
	}
	if g.Start == g.End {
		return l, fault.Errorf(ErrGaps, "the label at %s s is shorter than one sample, must be a region",
			strings.TrimSpace(part[0]))
	}
	text := part[2]
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		if c, err := parseChannel(text[at+1:]); err == nil {
			g.Channel, text = c, text[:at]
		}
	}
	return labelOf(g, text, line), g.check()
}
