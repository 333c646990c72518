package detect

import (
	"cmp"
	"slices"
	"sort"
)

// joined returns candidates in increasing order. It merges candidates that touch or overlap, with the larger log-odds.
func joined(all []candidate) (out []candidate) {
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
	for _, c := range all {
		if k := len(out) - 1; k >= 0 && c.lo <= out[k].hi {
			out[k].hi, out[k].logOdds = max(out[k].hi, c.hi), max(out[k].logOdds, c.logOdds)
			continue
		}
		out = append(out, c)
	}
	return out
}

// apart returns the detections of a channel in increasing order. It removes clicks that touch a dropout or zeros,
// because they are its edges, and clicks that are less probable than clipping of the same samples, whose
// restoration needs the limits. It merges other overlapping detections, with the kind that comes first.
func apart(all []Found, kinds []Kind) (out []Found) {
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Compare(a.Start, b.Start) })
	all = withoutLess(withoutEdges(all))
	for _, f := range all {
		k := len(out) - 1
		if k < 0 || f.Start >= out[k].End {
			out = append(out, f)
			continue
		}
		if slices.Index(kinds, f.Kind) < slices.Index(kinds, out[k].Kind) {
			out[k].Kind, out[k].LogOdds = f.Kind, f.LogOdds
		}
		out[k].End = max(out[k].End, f.End)
		out[k].Clipped, out[k].Click = out[k].Clipped && f.Clipped, out[k].Kind == Clicks
	}
	return out
}

// withoutEdges removes clicks that touch dropouts or zeros. The detections are in increasing order.
func withoutEdges(all []Found) (out []Found) {
	var others []Found
	var ends []int // largest End of the detections up to each index
	last := 0
	for _, f := range all {
		if f.Kind == Dropouts || f.Kind == Zeros {
			last = max(last, f.End)
			others, ends = append(others, f), append(ends, last)
		}
	}
	for _, f := range all {
		k := sort.Search(len(others), func(k int) bool { return others[k].Start > f.End })
		if f.Kind != Clicks || k == 0 || ends[k-1] < f.Start {
			out = append(out, f)
		}
	}
	return out
}

// withoutLess removes clicks that overlap clipped samples with larger log-odds. The detections are in increasing order.
func withoutLess(all []Found) []Found {
	var clipped []Found // they do not overlap
	for _, f := range all {
		if f.Kind == Clipped {
			clipped = append(clipped, f)
		}
	}
	return slices.DeleteFunc(all, func(f Found) bool {
		k := sort.Search(len(clipped), func(k int) bool { return clipped[k].End > f.Start })
		for ; f.Kind == Clicks && k < len(clipped) && clipped[k].Start < f.End; k++ {
			if clipped[k].LogOdds > f.LogOdds {
				return true
			}
		}
		return false
	})
}

// together returns the detections of all channels in increasing order. A detection that is equal in all channels becomes one detection with
// Channel 0.
func together(channels [][]Found) []Found {
	all := slices.Concat(channels...)
	slices.SortFunc(all, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Channel, b.Channel))
	})
	out := all[:0]
	for i := 0; i < len(all); {
		same := 1
		for i+same < len(all) && all[i+same].Start == all[i].Start && all[i+same].End == all[i].End && all[i+same].Kind == all[i].Kind {
			same++
		}
		if same == len(channels) {
			f := all[i]
			f.Channel = 0
			for _, g := range all[i : i+same] {
				f.LogOdds = max(f.LogOdds, g.LogOdds)
			}
			out = append(out, f)
		} else {
			out = append(out, all[i:i+same]...)
		}
		i += same
	}
	return out
}
