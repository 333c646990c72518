package audio

import (
	"bufio"
	"fmt"
	"io"
)

// A Label names a part of a recording.
type Label struct {
	Gap
	Text string // without tabs
}

// WriteLabels writes labels as Audacity reads them: a line for each, start and end in seconds and its text, apart by tabs. The text of one
// channel's label ends in @CHANNEL.
func WriteLabels(w io.Writer, rate int, labels []Label) error {
	b := bufio.NewWriter(w)
	for _, l := range labels {
		text := l.Text
		if l.Channel > 0 {
			text += fmt.Sprintf(" @%d", l.Channel)
		}
		fmt.Fprintf(b, "%.9f\t%.9f\t%s\n", float64(l.Start)/float64(rate), float64(l.End)/float64(rate), text)
	}
	return b.Flush()
}
