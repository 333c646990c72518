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
	// maxDetections is the maximum number of detections in a chart.
	maxDetections = 2000
	// maxNear is the maximum number of clicks in the table of near misses.
	maxNear = 50
	// otherKinds is the name of the group of less frequent kinds.
	otherKinds = "other"
)

// kindColors are the colors of the kinds in the order of decreasing frequency.
var kindColors = []color.Color{Blue, Red, Pink, Gray}

// found returns the section with the numbers of detections by kind and channel, and a chart of their lengths over time.
func (f *Fill) found() section {
	s := section{Title: "Damage found"}
	if len(f.Found) == 0 {
		if f.Result == nil {
			s.Text = []string{"Nothing was found."}
		}
		return s
	}
	t := Table{Caption: "Detections by kind", Head: []string{"", "detections", "per minute", "longest, ms"}}
	if f.Channels > 1 {
		t.Head = append(t.Head, "in all channels")
		for c := range min(f.Channels, maxSeries) {
			t.Head = append(t.Head, fmt.Sprintf("only in channel %d", c+1))
		}
	}
	text, drawn := "Length of each detection over time.", slices.Clone(f.Found)
	slices.SortStableFunc(drawn, func(a, b detect.Found) int { return cmp.Compare(b.Len(), a.Len()) })
	if len(drawn) > maxDetections {
		text, drawn = fmt.Sprintf("Length over time of the longest %d of %d detections.", maxDetections, len(drawn)), drawn[:maxDetections]
	}
	c := newChart("Lengths of the detections", text, seconds, "length, ms")
	c.logY = true
	kinds := f.kinds()
	milliseconds := func(d detect.Found) float64 { return 1000 * float64(d.Len()) / float64(f.Rate) }
	for k, kind := range kinds {
		is := func(d detect.Found) bool {
			return kindOf(d) == kind || kind == otherKinds && !slices.Contains(kinds, kindOf(d))
		}
		n, longest, inChannel := 0, 0., make([]int, f.Channels+1)
		for _, d := range f.Found {
			if is(d) {
				n++
				longest = max(longest, milliseconds(d))
				inChannel[d.Channel]++
			}
		}
		row := []string{kind, strconv.Itoa(n), short(60 * float64(n) * float64(f.Rate) / float64(f.Samples)), short(longest)}
		for _, n := range inChannel[:len(t.Head)-len(row)] {
			row = append(row, strconv.Itoa(n))
		}
		t.Rows = append(t.Rows, row)
		var x, y []float64
		for _, d := range drawn {
			if is(d) {
				x, y = append(x, float64(d.Start)/float64(f.Rate)), append(y, milliseconds(d))
			}
		}
		c.points(kind, kindColors[k], x, y)
	}
	s.Tables, s.Charts = []Table{t}, []*chart{c}
	if len(f.Search.Near) > 0 {
		s.Tables = append(s.Tables, f.near())
	}
	return s
}

// near returns the table of the most probable clicks that only a higher sensitivity finds.
func (f *Fill) near() Table {
	all := slices.Clone(f.Search.Near)
	slices.SortStableFunc(all, func(a, b detect.Found) int { return cmp.Compare(b.LogOdds, a.LogOdds) })
	t := Table{
		Caption: fmt.Sprintf("The most probable of %s that only a higher sensitivity finds. They were not filled.",
			Counted(len(all), "click")),
		Head: []string{"time", "samples", "channel", "confidence, %"},
	}
	for _, d := range all[:min(len(all), maxNear)] {
		channel := ""
		if d.Channel > 0 && f.Channels > 1 {
			channel = strconv.Itoa(d.Channel)
		}
		t.Rows = append(t.Rows, []string{clock(d.Start, f.Rate), fmt.Sprintf("%d:%d", d.Start, d.End), channel,
			strconv.Itoa(int(100*d.Confidence() + 0.5))})
	}
	t.dropEmpty()
	return t
}

// kindOf returns the name of the kind of a detection.
func kindOf(d detect.Found) string { return cmp.Or(string(d.Kind), "without a label") }

// kinds returns the kinds of the detections, the most frequent first. If there are more than kindColors, the last entry is otherKinds.
func (f *Fill) kinds() []string {
	count := map[string]int{}
	for _, d := range f.Found {
		count[kindOf(d)]++
	}
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	if most := len(kindColors); len(kinds) > most {
		kinds = append(kinds[:most-1], otherKinds)
	}
	return kinds
}
