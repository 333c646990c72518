package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// A row is a line of the table: a measurement of ours or of a peer.
type row struct {
	name, device, precision string
	seconds                 float64 // 0: not measured
	moments, pullback       float64 // TFLOP/s; moments is the one pass of the other inferences
	share                   float64 // of the peak, by the same pass
	ratio                   float64 // a peer's seconds over ours
	bytes                   int64
	status                  string
}

// row is the record as the table has it.
func (r *record) row() row {
	out := row{name: r.Case, device: shortDevice(r.Device), precision: r.Precision, seconds: r.Evaluation, bytes: r.HostBytes, status: r.Status}
	if r.DeviceBytes > 0 {
		out.bytes = r.DeviceBytes
	}
	if r.GFlops != nil {
		out.moments = (r.GFlops.Moments + r.GFlops.Factorised + r.GFlops.Predict) / 1e3
		out.pullback = r.GFlops.Pullback / 1e3
	}
	if r.Share != nil {
		out.share = r.Share.Moments + r.Share.Factorised + r.Share.Predict
	}
	return out
}

// shortDevice leaves the card's name out: the whole table is of one machine.
func shortDevice(name string) string {
	short, _, _ := strings.Cut(name, " ")
	return short
}

// A peerLine is a line of peers/speed.py, which says what its fields are, with
// the ratio to ours that was measured around it.
type peerLine struct {
	Peer      string      `json:"peer"`
	Mode      string      `json:"mode,omitempty"`
	Device    string      `json:"device"`
	Version   string      `json:"version,omitempty"`
	Case      string      `json:"case,omitempty"`
	N         int         `json:"n"`
	Features  int         `json:"features"`
	Q         int         `json:"inputs,omitempty"`
	D         int         `json:"outputs,omitempty"`
	First     float64     `json:"first_seconds,omitempty"`
	Seconds   float64     `json:"seconds_per_evaluation,omitempty"`
	Range     *[2]float64 `json:"seconds_range,omitempty"`
	Ours      float64     `json:"ours_seconds,omitempty"`
	Ratio     float64     `json:"ratio,omitempty"`
	Bound     *float64    `json:"bound,omitempty"`
	BoundOff  *float64    `json:"bound_difference,omitempty"`
	GradOff   *float64    `json:"gradient_difference,omitempty"`
	GradWorst string      `json:"gradient_worst,omitempty"`
	TFlops    float64     `json:"tflops,omitempty"`
	Peak      int64       `json:"peak_bytes,omitempty"`
	Status    string      `json:"status"`
}

func (p peerLine) row() row {
	name := fmt.Sprintf("%s %s, exact N=%d M=%d", p.Peer, p.Version, p.N, p.Features)
	if p.Mode == "dgemm" {
		name = fmt.Sprintf("%s %s, DGEMM %d", p.Peer, p.Version, p.N)
	}
	return row{name: name, device: p.Device, precision: "float64", seconds: p.Seconds, moments: p.TFlops, ratio: p.Ratio, bytes: p.Peak, status: p.Status}
}

// printTable prints rows in columns, a dash where nothing was measured.
func printTable(w io.Writer, rows []row) {
	wide := len("case")
	for _, r := range rows {
		wide = max(wide, len(r.name))
	}
	fmt.Fprintf(w, "%-*s  %-8s %-9s %12s %7s %10s %10s %7s %9s  %s\n", wide, "case", "device", "precision", "s/evaluation", "/ ours", "TFLOP/s", "pullback", "share", "MiB", "status")
	for _, r := range rows {
		fmt.Fprintf(w, "%-*s  %-8s %-9s %12s %7s %10s %10s %7s %9s  %s\n", wide, r.name, r.device, r.precision,
			positive(r.seconds, "%.4g"), positive(r.ratio, "%.2f"), positive(r.moments, "%.3g"), positive(r.pullback, "%.3g"),
			positive(100*r.share, "%.0f%%"), positive(float64(r.bytes)/(1<<20), "%.0f"), firstLine(r.status))
	}
}

// details says below the table where the time goes.
func (r *record) details(w io.Writer) {
	if r.Seconds == nil {
		return
	}
	p := r.Seconds
	fmt.Fprint(w, "\nseconds:")
	for _, v := range []struct {
		name    string
		seconds float64
	}{
		{"features", p.Features}, {"accumulation", p.Accumulation}, {"moments in all", p.Moments}, {"moments and algebra", p.Solve}, {"algebra", p.Algebra}, {"pullback", p.Pullback},
		{"factorised", p.Factorised}, {"predict", p.Predict}, {"host algebra", p.Host},
	} {
		if v.seconds > 0 {
			fmt.Fprintf(w, "  %s %.4g", v.name, v.seconds)
		}
	}
	fmt.Fprintln(w)
	for _, k := range slices.Sorted(maps.Keys(r.Kernels)) {
		fmt.Fprintf(w, "  %-24s %8.4g s of core or card\n", k, r.Kernels[k])
	}
	if r.Share != nil {
		fmt.Fprintf(w, "peak %.4g TFLOP/s %s; the evaluation has %.0f%% of it\n", r.Peak, r.Simd, 100*r.Share.Evaluation)
	}
	if r.Matrices > 0 {
		fmt.Fprintf(w, "the evaluation holds %.0f MiB, %.2f matrices of M × M\n", float64(r.Bytes)/(1<<20), r.Matrices)
	}
}

// firstLine keeps a table a table.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func positive(v float64, format string) string {
	if !(v > 0) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf(format, v)
}

// A stage is a line of device.sh: what it ran and how that ended.
type stage struct {
	Stage   string  `json:"stage"`
	Seconds float64 `json:"seconds"`
	Status  string  `json:"status"` // ok, skipped, time limit, exit N
}

// A result is what device.sh leaves: everything of one machine and one commit.
type result struct {
	Date   string            `json:"date"`
	Commit string            `json:"commit"`
	Card   string            `json:"card"`
	Driver string            `json:"driver"`
	Facts  map[string]string `json:"facts"`
	Stages []stage           `json:"stages"`
	Speed  []json.RawMessage `json:"speed"`
	Peers  []json.RawMessage `json:"peers"`
	rows   []row
}

// add takes one line, by what it holds.
func (r *result) add(line []byte) error {
	var kind struct {
		Bench, Peer, Stage string
		Facts              map[string]string
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return err
	}
	raw := json.RawMessage(append([]byte(nil), line...))
	switch {
	case kind.Bench == "speed":
		var m record
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		r.Speed, r.rows = append(r.Speed, raw), append(r.rows, m.row())
	case kind.Peer != "":
		var p peerLine
		if err := json.Unmarshal(line, &p); err != nil {
			return err
		}
		r.Peers, r.rows = append(r.Peers, raw), append(r.rows, p.row())
	case kind.Stage != "":
		var s stage
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		r.Stages = append(r.Stages, s)
	case kind.Facts != nil:
		r.Facts = kind.Facts
		r.Card, r.Driver, r.Commit = kind.Facts["name"], kind.Facts["driver_version"], kind.Facts["commit"]
	default:
		return fmt.Errorf("neither a measurement nor a stage nor facts")
	}
	return nil
}

// readResult collects the lines of device.sh.
func readResult(in io.Reader) (*result, error) {
	r := &result{Date: time.Now().UTC().Format(time.RFC3339)}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := r.add(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return r, lines.Err()
}

// print writes the stages and the table.
func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "%s, driver %s, commit %s, %s\n\n", r.Card, r.Driver, r.Commit, r.Date)
	for _, s := range r.Stages {
		fmt.Fprintf(w, "%-28s %7.1f s  %s\n", s.Stage, s.Seconds, s.Status)
	}
	fmt.Fprintln(w)
	printTable(w, r.rows)
}

func runReport(args []string) error {
	set := flag.NewFlagSet("report", flag.ExitOnError)
	out := set.String("out", "", "write the whole as one JSON object to this file")
	_ = set.Parse(args) // ExitOnError
	if set.NArg() != 1 {
		return &usage{errors.New("report: want one file of lines of JSON")}
	}
	f, err := os.Open(set.Arg(0))
	if err != nil {
		return &usage{err}
	}
	defer f.Close()
	r, err := readResult(f)
	if err != nil {
		return fmt.Errorf("%s: %w", set.Arg(0), err)
	}
	r.print(os.Stdout)
	if *out == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(*out, append(text, '\n'), 0o666)
}

// runCompare says whether two outputs of `vssgp --json` have the same bound.
func runCompare(args []string) error {
	set := flag.NewFlagSet("compare", flag.ExitOnError)
	tolerance := set.Float64("tolerance", 1e-6, "largest difference of the bounds, of the larger one")
	_ = set.Parse(args) // ExitOnError
	if set.NArg() != 2 {
		return &usage{errors.New("compare: want two files of `vssgp … --json`")}
	}
	var bound [2]float64
	for i, path := range set.Args() {
		text, err := os.ReadFile(path)
		if err != nil {
			return &usage{err}
		}
		var v struct {
			Bound  *float64
			Device string
		}
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if v.Bound == nil {
			return fmt.Errorf("%s: no bound", path)
		}
		bound[i] = *v.Bound
		fmt.Printf("%s: bound %.12g on %s\n", path, *v.Bound, v.Device)
	}
	difference := math.Abs(bound[0]-bound[1]) / max(1, math.Abs(bound[0]), math.Abs(bound[1]))
	fmt.Printf("relative difference %.3g\n", difference)
	if !(difference <= *tolerance) {
		return fmt.Errorf("the bounds differ by %.3g of their size, want %.3g at most", difference, *tolerance)
	}
	return nil
}
