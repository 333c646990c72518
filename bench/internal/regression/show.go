package regression

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// Show prints the tables of each half: the scores by kind and place, the times by kind, a summary, and the fits that
// failed. Means of a kind are over the seeds for which every method of the kind has scores.
func Show(w io.Writer, lines []Line) {
	for _, half := range Halves {
		if some := jsonl.Where(lines, func(l Line) string { return l.Half }, half); len(some) > 0 {
			fmt.Fprintf(w, "Half %s: means over seeds of RMSE / NLPD / coverage of 95 %% intervals\n\n", half)
			showHalf(w, some)
		}
	}
}

func showHalf(w io.Writer, lines []Line) {
	methods := jsonl.Distinct(lines, func(l Line) string { return l.Method })
	var kinds []*means
	for _, group := range byKind(lines) {
		kinds = append(kinds, newMeans(group))
	}
	header(w, append([]string{"kind", "place", "seeds"}, methods...)...)
	for _, k := range kinds {
		for _, place := range PlaceNames {
			if !k.has(place) {
				continue
			}
			cells := []string{k.kind, place, fmt.Sprint(k.seeds)}
			for _, m := range methods {
				cells = append(cells, k.scores[m][place].cell())
			}
			cellsRow(w, cells...)
		}
	}

	fmt.Fprint(w, "\nSeconds of the fit and the predictions (of the processor)\n\n")
	header(w, append([]string{"kind", "N"}, methods...)...)
	for _, k := range kinds {
		cells := []string{k.kind, fmt.Sprint(k.n)}
		for _, m := range methods {
			cells = append(cells, k.times[m].cell())
		}
		cellsRow(w, cells...)
	}

	fmt.Fprint(w, "\nCoverage in gaps, over kinds\n\n")
	header(w, "method", "kinds", "mean", "worst", "kind of the worst")
	for _, m := range methods {
		showCoverage(w, m, kinds)
	}
	showFailed(w, lines)
}

// byKind groups lines by kind, in the order of Kinds.
func byKind(lines []Line) [][]Line {
	names := Names()
	order := func(a, b Line) int {
		return cmp.Compare(slices.Index(names, a.Kind), slices.Index(names, b.Kind))
	}
	return jsonl.Groups(slices.SortedStableFunc(slices.Values(lines), order), func(l Line) string { return l.Kind })
}

// means are the means of a kind over seeds.
type means struct {
	kind   string
	n      int // rows of the first seed
	seeds  int
	scores map[string]map[string]*Scores // by method and place
	times  map[string]*times             // by method
}

// newMeans averages the lines of a kind.
func newMeans(lines []Line) *means {
	lines = common(lines)
	m := &means{scores: map[string]map[string]*Scores{}, times: map[string]*times{}}
	m.seeds = len(jsonl.Distinct(lines, func(l Line) int { return l.Seed }))
	for _, l := range lines {
		m.kind, m.n = l.Kind, cmp.Or(m.n, l.N)
		if m.scores[l.Method] == nil {
			m.scores[l.Method], m.times[l.Method] = map[string]*Scores{}, &times{}
		}
		share := 1 / float64(m.seeds)
		m.times[l.Method].wall += share * l.Seconds
		m.times[l.Method].cpu += share * l.CPU
		for place, s := range l.Places {
			if m.scores[l.Method][place] == nil {
				m.scores[l.Method][place] = &Scores{}
			}
			to := m.scores[l.Method][place]
			to.RMSE += share * s.RMSE
			to.NLPD += share * s.NLPD
			to.Coverage += share * s.Coverage
		}
	}
	return m
}

// common returns the lines with scores of those seeds for which all methods with scores have one.
func common(lines []Line) []Line {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Status != machine.OK })
	seed := func(l Line) int { return l.Seed }
	methods := len(jsonl.Distinct(lines, func(l Line) string { return l.Method }))
	return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool {
		return len(jsonl.Where(lines, seed, l.Seed)) < methods
	})
}

// has reports whether a method has scores at a place.
func (m *means) has(place string) bool {
	for _, s := range m.scores {
		if s[place] != nil {
			return true
		}
	}
	return false
}

// times are wall and processor times in seconds.
type times struct{ wall, cpu float64 }

func (t *times) cell() string {
	if t == nil {
		return "-"
	}
	return fmt.Sprintf("%.2g (%.2g)", t.wall, t.cpu)
}

func (s *Scores) cell() string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.3g / %s / %.2f", s.RMSE, number(s.NLPD), s.Coverage)
}

// number formats a number with two decimals, or none if it is large.
func number(v float64) string {
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// showCoverage prints the mean and the lowest coverage of a method in gaps.
func showCoverage(w io.Writer, method string, kinds []*means) {
	var total, count, worst = 0.0, 0, math.Inf(1)
	where := ""
	for _, k := range kinds {
		s := k.scores[method][Gap]
		if s == nil {
			continue
		}
		total, count = total+s.Coverage, count+1
		if s.Coverage < worst {
			worst, where = s.Coverage, k.kind
		}
	}
	if count == 0 {
		cellsRow(w, method, "0", "-", "-", "-")
		return
	}
	cellsRow(w, method, fmt.Sprint(count), fmt.Sprintf("%.3f", total/float64(count)), fmt.Sprintf("%.2f", worst), where)
}

// showFailed lists the lines without scores.
func showFailed(w io.Writer, lines []Line) {
	failed := slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Status == machine.OK })
	if len(failed) == 0 {
		fmt.Fprintln(w)
		return
	}
	fmt.Fprint(w, "\nWithout scores\n\n")
	header(w, "kind", "seed", "method", "status")
	for _, l := range failed {
		cellsRow(w, l.Kind, fmt.Sprint(l.Seed), l.Method, l.Status)
	}
	fmt.Fprintln(w)
}

// header prints the first two lines of a table.
func header(w io.Writer, names ...string) {
	cellsRow(w, names...)
	fmt.Fprintln(w, strings.Repeat("|---", len(names))+"|")
}

func cellsRow(w io.Writer, cells ...string) {
	fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
}
