package report

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strconv"

	"github.com/vssgp/vssgp/audio/detect"
)

const (
	// mostKinds bounds the kinds of finds that are told apart, the most frequent ones.
	mostKinds = 4
	// mostFinds bounds the finds in a chart.
	mostFinds = 2000
)

// otherKinds are those that are not told apart.
const otherKinds = "other"

// kindColors are the colors of the kinds, the most frequent one first.
var kindColors = [mostKinds]color.Color{Blue, Red, Pink, Grey}

// found returns a count of the finds by kind and channel, and charts of them along the recording.
func (f *Fill) found() section {
	s := section{Title: "What was found"}
	if len(f.Found) == 0 {
		if f.Result == nil {
			s.Text = []string{"Nothing was found."}
		}
		return s
	}
	kinds, split := f.byKind()
	s.Tables, s.Charts = []Table{f.countFound(kinds, split)}, []*chart{f.lengths(kinds, split)}
	return s
}

// byKind splits the finds by kind, the most frequent first. Of many kinds the last is the rest.
func (f *Fill) byKind() (kinds []string, split [][]detect.Found) {
	all := map[string][]detect.Found{}
	for _, d := range f.Found {
		kind := cmp.Or(string(d.Kind), "without a label")
		all[kind] = append(all[kind], d)
	}
	kinds = slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(all[b]), len(all[a])), cmp.Compare(a, b))
	})
	for _, kind := range kinds {
		split = append(split, all[kind])
	}
	if len(kinds) > mostKinds {
		kinds = append(kinds[:mostKinds-1], otherKinds)
		split = append(split[:mostKinds-1], slices.Concat(split[mostKinds-1:]...))
	}
	return kinds, split
}

// countFound returns the table of finds by kind and channel.
func (f *Fill) countFound(kinds []string, split [][]detect.Found) Table {
	t := Table{Caption: "Finds by kind", Head: []string{"", "finds", "a minute", "longest, ms"}}
	if f.Channels > 1 {
		t.Head = append(t.Head, "in all channels")
		for c := range min(f.Channels, mostSeries) {
			t.Head = append(t.Head, fmt.Sprintf("in channel %d alone", c+1))
		}
	}
	for k, finds := range split {
		longest, inChannel := 0, make([]int, f.Channels+1)
		for _, d := range finds {
			longest = max(longest, d.Len())
			inChannel[d.Channel]++
		}
		row := []string{kinds[k], strconv.Itoa(len(finds)), short(60 * float64(len(finds)) * float64(f.Rate) / float64(f.Samples)),
			short(1000 * float64(longest) / float64(f.Rate))}
		for c := range len(t.Head) - len(row) {
			row = append(row, strconv.Itoa(inChannel[c]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// lengths returns a chart of the length of each find along the recording, of the longest if there are too many.
func (f *Fill) lengths(kinds []string, split [][]detect.Found) *chart {
	text, least := "Each find at its time.", 0
	if len(f.Found) > mostFinds {
		text = fmt.Sprintf("The longest %d of %d, each at its time.", mostFinds, len(f.Found))
		longest := slices.SortedFunc(slices.Values(f.Found), func(a, b detect.Found) int { return cmp.Compare(b.Len(), a.Len()) })
		least = longest[mostFinds].Len() + 1
	}
	c := newChart("Lengths of the finds", text, seconds, "length, ms")
	c.logY = true
	for k, finds := range split {
		var x, y []float64
		for _, d := range finds {
			if d.Len() >= least {
				x, y = append(x, float64(d.Start)/float64(f.Rate)), append(y, 1000*float64(d.Len())/float64(f.Rate))
			}
		}
		c.points(kinds[k], kindColors[k], x, y)
	}
	return c
}
