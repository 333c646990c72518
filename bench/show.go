package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

// A row is a row of the table: name, device, precision, seconds per evaluation and their ratio to ours, TFLOP/s of the
// sums and of the pullback, the sums' share of the peak, memory, and status. A dash means that nothing was measured.
type row []any

// row returns the record's row. It omits the GPU's name because a table describes one machine.
func (r *record) row() row {
	device, _, _ := strings.Cut(r.Device, " ")
	what := r.Case
	if r.Sums == fromTables {
		what += " from tables"
	}
	if strings.HasSuffix(r.Case, " start") { // which begins with opening the device, and compiling on a GPU
		what += fmt.Sprintf(": %.2g + %.2g s", r.Start, r.First)
	}
	return row{
		what, device, r.Precision, positive(r.Evaluation, "%.4g"), "-",
		positive(r.GFlops.sum(moments, factorized, predicted)/1e3, "%.3g"), positive(r.GFlops[pullback]/1e3, "%.3g"),
		positive(100*r.Share.sum(moments, factorized, predicted), "%.0f%%"), mebibytes(cmp.Or(r.DeviceBytes, r.HostBytes)),
		firstLine(r.Status),
	}
}

func (m mmaLine) row() row {
	what := fmt.Sprintf("mma of %d terms, %d warps a partition, operands in %s", m.Terms, m.Warps, m.Operands)
	return row{what, "cuda", "float64", "-", "-", positive(m.TFLOPS, "%.3g"), "-", "-", "-", "ok"}
}

func (p peerLine) row() row {
	what := p.Case
	switch {
	case p.Mode == "rates":
	case p.Mode != "":
		what = fmt.Sprintf("%s N=%d", p.Mode, p.N)
	default:
		what = fmt.Sprintf("exact N=%d M=%d", p.N, p.Features)
		if p.Q > 1 {
			what += fmt.Sprintf(" Q=%d", p.Q)
		}
	}
	precision := "float64"
	if strings.HasPrefix(p.Case, "int8") {
		precision = "int8"
	}
	rate := positive(p.TFlops, "%.3g")
	if p.GBytes > 0 {
		rate = fmt.Sprintf("%.3g GB/s", p.GBytes)
	}
	return row{
		strings.TrimSpace(p.Peer+" "+p.Version) + ", " + what, p.Device, precision, positive(p.Seconds, "%.4g"), positive(p.Ratio, "%.2f"),
		rate, "-", "-", mebibytes(p.Peak), firstLine(p.Status),
	}
}

// head contains the column names of the table.
var head = row{"case", "device", "precision", "s/evaluation", "/ ours", "TFLOP/s", "pullback", "share", "MiB", "status"}

// printRows prints rows in columns.
func printRows(w io.Writer, rows ...row) {
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0].(string)))
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%-*s  %-8s %-9s %12s %7s %10s %10s %7s %9s  %s\n", append([]any{wide}, r...)...)
	}
}

// details prints the times of the parts of an evaluation below the table.
func (r *record) details(w io.Writer) {
	if r.Seconds == nil {
		return
	}
	fmt.Fprint(w, "\nseconds:")
	for _, v := range [][2]string{
		{evaluating, "features"}, {accumulating, "accumulation"}, {moments, "moments in total"}, {solving, "moments and algebra"},
		{algebra, "algebra"}, {pullback, "pullback"}, {factorized, "factorized"}, {predicted, "predict"}, {hosted, "host algebra"},
		{opening, "(opening the rows, once)"},
	} {
		if s := r.Seconds[v[0]]; s > 0 {
			fmt.Fprintf(w, "  %s %.4g", v[1], s)
		}
	}
	fmt.Fprintln(w)
	for _, k := range slices.Sorted(maps.Keys(r.Kernels)) {
		fmt.Fprintf(w, "  %-24s %8.4g s of core or GPU time\n", k, r.Kernels[k])
	}
	if r.Share != nil {
		fmt.Fprintf(w, "peak %.4g TFLOP/s %s; the evaluation reaches %.0f%% of it\n", r.Peak, r.Simd, 100*r.Share["evaluation"])
	}
	switch t := r.Tables; {
	case t != nil:
		fmt.Fprintf(w, "sums from tables, which take %.3g s once and %.3g MiB\n", t.Seconds, float64(t.Bytes)/(1<<20))
	case r.Sums != "":
		fmt.Fprintf(w, "sums from %s\n", r.Sums)
	}
	if f := r.Fit; f != nil {
		fmt.Fprintf(w, "a fit of %d iterations takes %.4g s, each after the first %s; bound %.10g\n",
			f.Iterations, f.Seconds, positive(f.Each, "%.3g s"), f.Bound)
	}
	if r.Matrices > 0 {
		fmt.Fprintf(w, "the evaluation uses %.0f MiB, %.2f matrices of M × M\n", float64(r.Bytes)/(1<<20), r.Matrices)
	}
}

// firstLine returns the first line of s.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// positive formats a number, or returns a dash if it is not positive and finite.
func positive(v float64, format string) string {
	if !(v > 0) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf(format, v)
}

func mebibytes(bytes int64) string { return positive(float64(bytes)/(1<<20), "%.0f") }

// A stage is a line of device.sh about a command that it ran.
type stage struct {
	Stage   string  `json:"stage"`
	Status  string  `json:"status"` // ok, or failed: or skipped: with the reason
	Seconds float64 `json:"seconds"`
	Card    string  `json:"card"`
	Driver  string  `json:"driver"`
	Commit  string  `json:"commit"`
}

// A result contains the lines of speed, of mma, of peers and of device.sh.
type result struct {
	Stages []stage
	Mma    []mmaLine
	Speed  []record
	Peers  []peerLine
}

// readResult reads a file of lines.
func readResult(path string) (r *result, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	r = &result{}
	_, err = jsonl.Read(path, r.add)
	return r, err
}

// add adds one line. It ignores a line of another kind, such as the facts and profiles of device.sh.
func (r *result) add(line *json.RawMessage) error {
	var kind struct{ Bench, Peer, Stage string }
	if err := json.Unmarshal(*line, &kind); err != nil {
		return err
	}
	switch {
	case kind.Bench == "speed":
		return extend(&r.Speed, *line)
	case kind.Bench == "mma":
		return extend(&r.Mma, *line)
	case kind.Peer != "":
		return extend(&r.Peers, *line)
	case kind.Stage != "":
		return extend(&r.Stages, *line)
	}
	return nil
}

// extend parses a line and appends it.
func extend[T any](all *[]T, line []byte) error {
	var one T
	err := json.Unmarshal(line, &one)
	if err == nil {
		*all = append(*all, one)
	}
	return err
}

// withTables returns the seconds of the same case as a record of -direct, but with tables, or 0 if there is none.
func (r *result) withTables(direct record) float64 {
	for _, m := range r.Speed {
		if m.Sums == fromTables && m.Case+" direct" == direct.Case && m.Device == direct.Device {
			return m.Evaluation
		}
	}
	return 0
}

// print writes the stages and the table: our rows, then the peers'. On a GPU, the shares are relative to its fastest
// DGEMM, if measured.
func (r *result) print(w io.Writer) {
	for _, s := range r.Stages {
		fmt.Fprintf(w, "%-28s %7.1f s  %s\n", s.Stage, s.Seconds, s.Status)
	}
	where := func(s stage) [3]string { return [3]string{s.Card, s.Driver, s.Commit} }
	for _, s := range jsonl.Distinct(r.Stages, where) {
		fmt.Fprintf(w, "\n%s, driver %s, commit %s\n\n", s[0], s[1], s[2])
	}

	peak := 0.0
	for _, p := range r.Peers {
		if p.Device == "cuda" && strings.HasPrefix(p.Case, "DGEMM") {
			peak = max(peak, p.TFlops)
		}
	}
	rows := []row{head}
	for _, m := range r.Mma {
		rows = append(rows, m.row())
	}
	for _, m := range r.Speed {
		if m.Share == nil && peak > 0 && m.Evaluation > 0 {
			m.Share = rates(m.Work, m.Seconds, m.Evaluation, 1e12*peak)
		}
		row := m.row()
		if ours := r.withTables(m); ours > 0 {
			row[4] = positive(m.Evaluation/ours, "%.4g")
		}
		rows = append(rows, row)
	}
	for _, p := range r.Peers {
		rows = append(rows, p.row())
	}
	printRows(w, rows...)
}
