package regression

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/bayes"
)

// Compare prints the paired differences between two runs: for each method, kind and place the means over the problems
// that both have, with standard errors. It returns an error if no problem is in both. Problems whose data differ are
// left out with a message.
func Compare(w io.Writer, older, newer []Line) error {
	pairs, left := paired(older, newer)
	if len(pairs) == 0 {
		return fmt.Errorf("no method has scores on the same problem in both files; %d problems have different data", left)
	}
	for _, half := range Halves {
		for _, group := range jsonl.Groups(pairs, func(p pair) string { return p.after.Method }) {
			group = jsonl.Where(group, func(p pair) string { return p.after.Half }, half)
			if len(group) > 0 {
				fmt.Fprintf(w, "Half %s, %s: new minus old; ± is the standard error; negative is better\n\n", half,
					group[0].after.Method)
				compareHalf(w, group)
			}
		}
	}
	if left > 0 {
		fmt.Fprintf(w, "Left out: %d fits whose problems have different data\n\n", left)
	}
	fmt.Fprintf(w, "Fits with scores in the old file only: %d; in the new file only: %d\n", only(older, newer),
		only(newer, older))
	return nil
}

// only returns the number of fits with scores in one file and not in the other.
func only(in, other []Line) (count int) {
	for _, l := range in {
		if l.Status == machine.OK && !slices.ContainsFunc(other, func(o Line) bool {
			return o.measurement() == l.measurement() && o.Status == machine.OK
		}) {
			count++
		}
	}
	return count
}

// A pair has two lines of the same method on the same problem.
type pair struct{ before, after Line }

// paired returns the pairs of lines with scores, in the order of kinds, and the number of lines whose data differ.
func paired(older, newer []Line) (pairs []pair, left int) {
	for _, group := range byKind(newer) {
		for _, after := range group {
			i := slices.IndexFunc(older, func(l Line) bool { return l.measurement() == after.measurement() })
			switch {
			case i < 0 || older[i].Status != machine.OK || after.Status != machine.OK:
			case older[i].Digest != after.Digest:
				left++
			default:
				pairs = append(pairs, pair{older[i], after})
			}
		}
	}
	return pairs, left
}

// A difference has the paired differences of a kind at a place.
type difference struct {
	rmse, nlpd []float64 // log ratio of the RMSE; difference of the NLPD
	coverage   [2]float64
}

func compareHalf(w io.Writer, pairs []pair) {
	header(w, "kind", "place", "seeds", "log RMSE ratio", "NLPD", "NLPD is lower", "coverage", "processor time ratio")
	overall := map[string]*difference{} // of the means of kinds, by place
	for _, group := range jsonl.Groups(pairs, func(p pair) string { return p.after.Kind }) {
		time := 0.0
		for _, p := range group {
			time += logRatio(p.after.CPU, p.before.CPU) / float64(len(group))
		}
		for _, place := range PlaceNames {
			d := differences(group, place)
			if len(d.nlpd) == 0 {
				continue
			}
			cells := append([]string{group[0].after.Kind, place}, d.cells()...)
			cellsRow(w, append(cells, fmt.Sprintf("%.2f", math.Exp(time)))...)
			o := cmp.Or(overall[place], &difference{})
			o.rmse, o.nlpd = append(o.rmse, average(d.rmse)), append(o.nlpd, average(d.nlpd))
			o.coverage[0], o.coverage[1] = o.coverage[0]+d.coverage[0], o.coverage[1]+d.coverage[1]
			overall[place] = o
		}
	}
	for _, place := range PlaceNames {
		if o := overall[place]; o != nil {
			o.coverage[0], o.coverage[1] = o.coverage[0]/float64(len(o.nlpd)), o.coverage[1]/float64(len(o.nlpd))
			cellsRow(w, append(append([]string{"**all kinds**", place}, o.cells()...), "")...)
		}
	}
	fmt.Fprintln(w)
}

// differences returns the differences of a kind at a place.
func differences(pairs []pair, place string) *difference {
	d := &difference{}
	for _, p := range pairs {
		before, ok := p.before.Places[place]
		after, also := p.after.Places[place]
		if !ok || !also {
			continue
		}
		d.rmse, d.nlpd = append(d.rmse, logRatio(after.RMSE, before.RMSE)), append(d.nlpd, after.NLPD-before.NLPD)
		d.coverage[0], d.coverage[1] = d.coverage[0]+before.Coverage, d.coverage[1]+after.Coverage
	}
	n := max(1, float64(len(d.nlpd)))
	d.coverage[0], d.coverage[1] = d.coverage[0]/n, d.coverage[1]/n
	return d
}

// cells returns the cells of a row from the number of seeds to the coverage.
func (d *difference) cells() []string {
	lower := 0
	for _, v := range d.nlpd {
		if v < 0 {
			lower++
		}
	}
	n := len(d.nlpd)
	return []string{fmt.Sprint(n), withError(d.rmse), withError(d.nlpd), fmt.Sprintf("%d of %d", lower, n),
		fmt.Sprintf("%.2f → %.2f", d.coverage[0], d.coverage[1])}
}

// logRatio returns log(a/b), or 0 if both are tiny.
func logRatio(a, b float64) float64 {
	const tiny = 1e-12
	return math.Log((a + tiny) / (b + tiny))
}

func average(a []float64) float64 {
	mean, _ := bayes.MeanSD(a, 0, 1)
	return mean
}

// withError returns the mean and its standard error.
func withError(a []float64) string {
	if len(a) < 2 {
		return number(average(a))
	}
	_, e := meanError(a)
	return fmt.Sprintf("%s ± %s", number(average(a)), number(e))
}

// meanError returns the mean and its standard error √(Σ(a−mean)²/(n(n−1))).
func meanError(a []float64) (mean, e float64) {
	mean = average(a)
	for _, v := range a {
		e += (v - mean) * (v - mean)
	}
	n := float64(len(a))
	return mean, math.Sqrt(e / (n * (n - 1)))
}
