package cuda

import (
	"fmt"
	"slices"
	"strings"
)

// launch is what is remembered of one.
type launch struct {
	stream any // the *Stream, as a key
	name   string
	g      Geometry
}

// launches are those that may still be running. A fault shows only at the next
// synchronisation, so these are the kernels that may have caused it. Only the
// last few are kept.
type launches struct {
	last    []launch
	dropped int
}

const mostRemembered = 16

func (l *launches) add(one launch) {
	if len(l.last) == mostRemembered {
		l.last = slices.Delete(l.last, 0, 1)
		l.dropped++
	}
	l.last = append(l.last, one)
}

// done forgets those of a stream that is idle.
func (l *launches) done(stream any) {
	l.last = slices.DeleteFunc(l.last, func(one launch) bool { return one.stream == stream })
	if len(l.last) == 0 {
		l.dropped = 0
	}
}

// text is the end of a fault's message.
func (l *launches) text() string {
	if len(l.last) == 0 {
		return ""
	}
	var dropped string
	if l.dropped > 0 {
		dropped = fmt.Sprintf("%d and then ", l.dropped)
	}
	names := make([]string, len(l.last))
	for i, one := range l.last {
		names[i] = fmt.Sprintf("%s (%v)", one.name, one.g)
	}
	return "; launched since the last synchronisation: " + dropped + strings.Join(names, ", ")
}
