package audio

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A Label names a part of a recording.
type Label struct {
	Gap
	Text string // without tabs
}

// labelDigits of a second tell samples apart at any rate that a header may give.
const labelDigits = 9

// WriteLabels writes labels as Audacity reads them: a line for each, start and end in seconds and its text, apart by tabs. The text of one
// channel's label ends in @CHANNEL. ReadGaps reads the same samples back.
func WriteLabels(w io.Writer, rate int, labels []Label) error {
	if w == nil || rate <= 0 {
		return fmt.Errorf("audio: labels at %d samples a second to %v: %w: want a positive rate and a writer", rate, w, ErrArgument)
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
	return b.Flush() // which has the error of any write
}

// readLabels reads gaps from labels.
func readLabels(src io.Reader, rate int) (gaps []Gap, err error) {
	s := bufio.NewScanner(src)
	for line := 1; s.Scan(); line++ {
		text := strings.TrimRight(s.Text(), "\r")
		if text == "" || text[0] == '\\' {
			continue
		}
		g, err := labelGap(text, rate)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		gaps = append(gaps, g)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("labels: %w: %w", ErrGaps, err)
	}
	return gaps, nil
}

// labelGap reads one label.
func labelGap(line string, rate int) (g Gap, err error) {
	part := strings.SplitN(line, "\t", 3)
	if len(part) < 2 {
		return g, fmt.Errorf("%w: label %.40q; want START, END and a text, apart by tabs", ErrGaps, line)
	}
	for i, to := range []*int{&g.Start, &g.End} {
		t, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(part[i]), ",", ".", 1), 64)
		n := math.Round(t * float64(rate))
		if err != nil || !(math.Abs(n) <= maxPosition) {
			return g, fmt.Errorf("%w: %.40q is not a time in seconds", ErrGaps, part[i])
		}
		*to = int(n)
	}
	if g.Start == g.End {
		return g, fmt.Errorf("%w: the label at %s s is a point, or less than a sample long; want a region with an end", ErrGaps,
			strings.TrimSpace(part[0]))
	}
	if len(part) == 3 {
		if at := strings.LastIndexByte(part[2], '@'); at >= 0 {
			if c, err := parseChannel(part[2][at+1:]); err == nil {
				g.Channel = c
			}
		}
	}
	return g, g.check()
}
