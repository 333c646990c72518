package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A row is a row of the table: name, device, precision, seconds per evaluation and their ratio to ours, TFLOP/s of the sums and of the
// pullback, the sums' share of the peak, memory, and status. A dash means that nothing was measured.
type row []any

// row returns the record's row. It omits the GPU's name because a table describes one machine.
func (r *record) row() row {
	device, _, _ := strings.Cut(r.Device, " ")
	what := r.Case
	if r.Sums == fromTables {
		what += " from tables"
	}
	return row{
		what, device, r.Precision, positive(r.Evaluation, "%.4g"), "-",
		positive(r.GFlops.sum(moments, factorized, predicted)/1e3, "%.3g"), positive(r.GFlops[pullback]/1e3, "%.3g"),
		positive(100*r.Share.sum(moments, factorized, predicted), "%.0f%%"), mebibytes(cmp.Or(r.DeviceBytes, r.HostBytes)),
		firstLine(r.Status),
	}
}

func (p peerLine) row() row {
	what := p.Case
	switch {
	case celerite[p.Peer] != nil:
		what = fmt.Sprintf("%s N=%d", p.Mode, p.N)
	case p.Mode != "rates":
		what = fmt.Sprintf("exact N=%d M=%d", p.N, p.Features)
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
		{algebra, "algebra"}, {pullback, "pullback"}, {factorized, "factorised"}, {predicted, "predict"}, {hosted, "host algebra"},
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

// reportTask is `bench report`.
type reportTask struct {
	path, out string
	slowest   bool
}

func (o *reportTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.out, "out", "", "write everything as one JSON object to this file, or to device-DATE-CARD.json in this folder")
	set.BoolVar(&o.slowest, "slowest", false, "print only the names of the two kernels that take the most time on a GPU")
}

func (o *reportTask) check(files []string) error {
	o.path = append(files, "")[0]
	_, err := os.Stat(o.path)
	return cmp.Or(demandFiles(files, 1, "one file of lines of JSON"), err)
}

func (o *reportTask) run() error {
	r, err := readResult(o.path)
	if err != nil {
		return err
	}
	if o.slowest {
		fmt.Println(strings.Join(r.slowest(2), " "))
		return nil
	}
	r.print(os.Stdout)
	return r.write(o.out)
}

// A result contains all measurements of device.sh on one machine and commit.
type result struct {
	Date     string            `json:"date"`
	Commit   string            `json:"commit"`
	Card     string            `json:"card"`
	Driver   string            `json:"driver"`
	Facts    map[string]string `json:"facts"`
	Stages   []stage           `json:"stages"`
	Speed    []record          `json:"speed"`
	Peers    []peerLine        `json:"peers"`
	Profiles []json.RawMessage `json:"profiles,omitempty"` // profiles of kernel launches by ncu
}

// readResult reads a file of lines, or a .json file written by -out.
func readResult(path string) (*result, error) {
	r := &result{Date: machine.Now()}
	if filepath.Ext(path) != ".json" {
		_, err := jsonl.Read(path, r.add)
		for _, m := range r.Speed {
			r.Card = cmp.Or(r.Card, m.GPU)
		}
		return r, err
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	return r, err
}

// add adds one line of device.sh, `bench speed` or a peer. The line's fields determine its kind.
func (r *result) add(line *json.RawMessage) error {
	var kind struct {
		Bench, Peer, Stage, Profile string
		Facts                       map[string]string
	}
	if err := json.Unmarshal(*line, &kind); err != nil {
		return err
	}
	switch {
	case kind.Bench == "speed":
		return extend(&r.Speed, *line)
	case kind.Peer != "":
		return extend(&r.Peers, *line)
	case kind.Stage != "":
		if n := len(r.Stages); n > 0 && r.Stages[n-1].Stage == kind.Stage { // replace the line that was written when the stage began
			r.Stages = r.Stages[:n-1]
		}
		return extend(&r.Stages, *line)
	case kind.Profile != "":
		r.Profiles = append(r.Profiles, *line)
		return nil
	case kind.Facts == nil:
		return errors.New("the line must be a measurement, a stage, a profile or facts")
	case r.Facts == nil:
		r.Facts = map[string]string{}
	}
	maps.Copy(r.Facts, kind.Facts)
	r.Card, r.Driver, r.Commit = r.Facts["name"], r.Facts["driver_version"], r.Facts["commit"]
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

// print writes the stages and the table.
func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "%s, driver %s, commit %s, %s\n\n", r.Card, r.Driver, r.Commit, r.Date)
	for _, s := range r.Stages {
		s.print(w)
	}
	fmt.Fprintln(w)
	printRows(w, slices.Insert(r.rows(), 0, head)...)
}

// write writes the result as JSON to a file, or to device-DATE-CARD.json if path is a folder. It does nothing if path is empty.
func (r *result) write(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		card := regexp.MustCompile("[^A-Za-z0-9]+").ReplaceAllString(cmp.Or(r.Card, "unknown"), "-")
		path = filepath.Join(path, fmt.Sprintf("device-%.10s-%s.json", r.Date, strings.Trim(card, "-")))
		what := "to commit as bench/results/" + filepath.Base(path)
		if len(r.Speed) == 0 || slices.ContainsFunc(r.Stages, stage.failed) {
			what = "incomplete, as some stages failed"
		}
		fmt.Printf("\n%s: %s\n", what, path)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o666)
}

// slowest returns the n kernels that take the most time in the first measurement on a GPU with passes over the rows.
func (r *result) slowest(n int) []string {
	for _, m := range r.Speed {
		if strings.HasPrefix(m.Device, "cuda") && len(m.Kernels) > 0 && m.Sums != fromTables {
			names := slices.SortedFunc(maps.Keys(m.Kernels), func(a, b string) int { return cmp.Compare(m.Kernels[b], m.Kernels[a]) })
			return names[:min(n, len(names))]
		}
	}
	return nil
}

// rows returns the rows of the table: ours, then the peers'. On a GPU, the shares are relative to its fastest DGEMM, if measured.
func (r *result) rows() (out []row) {
	peak := 0.0
	for _, p := range r.Peers {
		if p.Device == "cuda" && strings.HasPrefix(p.Case, "DGEMM") {
			peak = max(peak, p.TFlops)
		}
	}
	for _, m := range r.Speed {
		if m.Share == nil && peak > 0 && m.Evaluation > 0 {
			m.Share = rates(m.Work, m.Seconds, m.Evaluation, 1e12*peak)
		}
		out = append(out, m.row())
	}
	for _, p := range r.Peers {
		out = append(out, p.row())
	}
	return out
}
