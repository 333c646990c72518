package report

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/vssgp/vssgp/audio/detect"
)

const (
	// mostKinds bounds the kinds of finds that are told apart, the most frequent ones.
	mostKinds = 4
	// mostFinds bounds the finds that are drawn one by one; of more, the number in
	// each of foundBins parts of the recording is.
	mostFinds, foundBins = 2000, 200
)

// otherKinds are those that are not told apart.
const otherKinds = "other"

// found returns a count of the finds by kind and channel, and charts of them along the recording.
func (f *Fill) found() []part {
	if len(f.Found) == 0 {
		if f.Result != nil {
			return nil
		}
		return []part{paragraph("Nothing was found.")}
	}
	kinds := f.kinds()
	parts := []part{f.countFound(kinds)}
	if len(f.Found) > mostFinds {
		parts = append(parts, f.histogram(kinds))
	} else {
		parts = append(parts, f.strip(kinds, "Lengths of the finds", "length, ms", true,
			func(d detect.Found) float64 { return 1000 * float64(d.Len()) / float64(f.Rate) }))
	}
	if odds := f.strip(kinds, "Log-odds of the finds", "log-odds", false, func(d detect.Found) float64 {
		return cmp.Or(d.LogOdds, math.NaN())
	}); len(odds.layers) > 0 {
		parts = append(parts, odds)
	}
	return parts
}

// kinds returns the finds of each kind, and the kinds' names, the most frequent first.
func (f *Fill) kinds() []string {
	count := map[string]int{}
	for _, d := range f.Found {
		count[string(d.Kind)]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	if len(names) > mostKinds {
		names = append(names[:mostKinds-1], otherKinds)
	}
	return names
}

// byKind splits finds by kind; those of no kind in the list are of the last one.
func byKind(kinds []string, all []detect.Found) [][]detect.Found {
	split := make([][]detect.Found, len(kinds))
	for _, d := range all {
		k := slices.Index(kinds, string(d.Kind))
		if k < 0 {
			k = len(kinds) - 1
		}
		split[k] = append(split[k], d)
	}
	return split
}

// countFound returns the table of finds by kind and channel.
func (f *Fill) countFound(kinds []string) Table {
	t := Table{Caption: "Finds by kind", Head: []string{"", "finds", "a minute", "longest, ms"}}
	if f.Channels > 1 {
		t.Head = append(t.Head, "in all channels")
		for c := range min(f.Channels, mostSeries) {
			t.Head = append(t.Head, fmt.Sprintf("in channel %d alone", c+1))
		}
	}
	for k, all := range byKind(kinds, f.Found) {
		n, longest, channel := len(all), 0, make([]int, f.Channels+1)
		for _, d := range all {
			longest = max(longest, d.Len())
			channel[d.Channel]++
		}
		row := []string{cmp.Or(kinds[k], "without a label"), strconv.Itoa(n), short(60 * float64(n) * float64(f.Rate) / float64(f.Samples)),
			short(1000 * float64(longest) / float64(f.Rate))}
		for c := 0; c+4 < len(t.Head); c++ {
			row = append(row, strconv.Itoa(channel[c]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// foundInks are the kinds' colors.
var foundInks = [mostKinds]color.RGBA{meanInk, referenceInk, drawInk, dataInk}

// strip returns a chart of a quantity of each find along the recording, of the largest if there are too many.
func (f *Fill) strip(kinds []string, title, y string, logY bool, of func(detect.Found) float64) *chart {
	all := slices.DeleteFunc(slices.Clone(f.Found), func(d detect.Found) bool { return math.IsNaN(of(d)) })
	text := "Each find at its time."
	if len(all) > mostFinds {
		text = fmt.Sprintf("The largest %d of %d, each at its time.", mostFinds, len(all))
		slices.SortStableFunc(all, func(a, b detect.Found) int { return cmp.Compare(of(b), of(a)) })
		all = all[:mostFinds]
		slices.SortStableFunc(all, func(a, b detect.Found) int { return cmp.Compare(a.Start, b.Start) })
	}
	c := &chart{Title: title, Text: text, XLabel: seconds, YLabel: y, logY: logY}
	for k, all := range byKind(kinds, all) {
		l := layer{name: cmp.Or(kinds[k], "without a label"), kind: asPoints, ink: foundInks[k]}
		for _, d := range all {
			l.x, l.y = append(l.x, float64(d.Start)/float64(f.Rate)), append(l.y, of(d))
		}
		if len(l.x) > 0 {
			c.layers = append(c.layers, l)
		}
	}
	return c
}

// histogram returns a chart of how many finds there are in equal parts of the recording.
func (f *Fill) histogram(kinds []string) *chart {
	c := &chart{Title: "Finds along the recording", XLabel: seconds, YLabel: "finds a second",
		Text: fmt.Sprintf("How many there are in each of %d equal parts of the recording.", foundBins)}
	width := float64(f.Samples) / float64(f.Rate) / foundBins
	for k, all := range byKind(kinds, f.Found) {
		l := layer{name: cmp.Or(kinds[k], "without a label"), kind: asLine, ink: foundInks[k], y: make([]float64, foundBins)}
		for i := range foundBins {
			l.x = append(l.x, (float64(i)+0.5)*width)
		}
		for _, d := range all {
			l.y[min(foundBins-1, max(0, d.Start*foundBins/f.Samples))] += 1 / width
		}
		c.layers = append(c.layers, l)
	}
	return c
}
