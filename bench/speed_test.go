package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestPartsAddUpToEvaluation checks that on the CPU, passes and host algebra add up to the evaluation,
// that features and accumulation are parts of moments, and the rates and shares.
func TestPartsAddUpToEvaluation(t *testing.T) {
	r := measured(t, "-n 4000 -features 160 -repeats 1 -direct")
	p := r.Seconds
	if sum := p.sum(moments, pullback, hosted); math.Abs(sum-r.Evaluation) > 1e-9 || p[factorized]+p[predicted] != 0 {
		t.Errorf("parts %+v add up to %v s, the evaluation takes %v", p, sum, r.Evaluation)
	}
	if sum := p[evaluating] + p[accumulating]; p[evaluating] <= 0 || p[accumulating] <= 0 || sum > p[moments] {
		t.Errorf("features %v s and accumulation %v s, moments %v s", p[evaluating], p[accumulating], p[moments])
	}
	if got, want := p[evaluating]/p[accumulating], r.Kernels["moments.features"]/r.Kernels["moments.products"]; math.Abs(got-want) > 1e-9*want {
		t.Errorf("time of features relative to accumulation %v, by kernel %v", got, want)
	}
	if want := 4000. * 160 * 160 / p[accumulating] / 1e9; math.Abs(r.GFlops[accumulating]-want) > 1e-9*want {
		t.Errorf("accumulation at %v GFLOP/s, want %v", r.GFlops[accumulating], want)
	}
	for name, c := range map[string][2]float64{
		"evaluation": {r.Share["evaluation"], r.GFlops["evaluation"]}, moments: {r.Share[moments], r.GFlops[moments]},
		accumulating: {r.Share[accumulating], r.GFlops[accumulating]}, pullback: {r.Share[pullback], r.GFlops[pullback]},
	} { // the rates themselves depend on the machine and its load
		if want := c[1] / 1e3 / r.Peak; !(c[0] > 0) || math.Abs(c[0]-want) > 1e-9*want {
			t.Errorf("%s: share %v of the peak %v TFLOP/s at %v GFLOP/s, want %v", name, c[0], r.Peak, c[1], want)
		}
	}
	if r.Peak < 1e-4 || r.Simd == "" {
		t.Errorf("peak %v TFLOP/s with %q", r.Peak, r.Simd)
	}
	if r.Bytes > 0 && (r.Bytes > r.HostBytes || math.Abs(r.Matrices*160*160*8-float64(r.Bytes)) > 1e-9*float64(r.Bytes)) {
		t.Errorf("the evaluation uses %d bytes, %v matrices; peak of the process %d", r.Bytes, r.Matrices, r.HostBytes)
	}
}

// TestSumsFromTables checks that there are no rates if sums come from tables, that the cost of the tables is reported,
// and that the bound is the same without them.
func TestSumsFromTables(t *testing.T) {
	var bounds []float64
	for _, c := range []struct{ args, sums, detail string }{
		{"", fromTables, "sums from tables, which take"},
		{"-direct", overRows, "sums from rows"},
		{"-window 64", overRows, "sums from rows"},
		{"-inference factorized", "", "seconds:"},
	} {
		o := parsed[*speedTask](t, "speed", "-n 2000 -features 16 -repeats 1 -fit 3 "+c.args)
		r, _, err := o.measure()
		testkit.OK(t, err)
		tables := c.sums == fromTables
		if r.Sums != c.sums || (r.Tables != nil) != tables || (r.Work == nil) != tables || (r.GFlops == nil) != tables || (r.Share == nil) != tables {
			t.Errorf("%q: sums %q, tables %v, rates %v", c.args, r.Sums, r.Tables, r.GFlops)
		}
		if tables && (r.Tables.Seconds <= 0 || r.Tables.Bytes < 16*2000 || r.Tables.Bytes > 1<<20) {
			t.Errorf("%+v, want at least 16 bytes for each of 2000 rows", r.Tables)
		}
		var out bytes.Buffer
		if err := o.report(&out, r, nil); err != nil || !strings.Contains(out.String(), c.detail) || !strings.Contains(out.String(), "a fit of 3 iterations takes") {
			t.Errorf("%q: %v, want %q:\n%s", c.args, err, c.detail, &out)
		}
		bounds = append(bounds, *r.Bound)
	}
	if math.Abs(bounds[0]-bounds[1]) > 1e-12*math.Abs(bounds[1]) {
		t.Errorf("bound %v with tables, %v without", bounds[0], bounds[1])
	}
}

// TestFittedProblem checks that features extend over 1 to 10 times the range of the rows, and that half of the
// components have low frequencies.
func TestFittedProblem(t *testing.T) {
	p := testkit.Must(sizes{N: 1000, Q: 1, D: 1, Features: 160, Fitted: true, Seed: 1}.build())(t)
	m, lows := p.model.Params, 0
	for k := range m.M() {
		if reach := m.Lengthscale[k/m.K] / math.Sqrt(m.FreqVar[k]); reach < 1000 || reach > 10000 {
			t.Errorf("feature %d extends over %v rows, want 1000 to 10000", k, reach)
		}
	}
	for _, f := range m.Frequency {
		if f <= low {
			lows++
		}
	}
	if lows < m.L/2 || lows == m.L {
		t.Errorf("%d of %d components have low frequencies", lows, m.L)
	}
}

// TestMap checks the rows and features of a problem with two inputs: a square grid or scattered rows, and features with
// the same lengths and frequencies relative to the range for any number of rows, in pairs with Fitted.
func TestMap(t *testing.T) {
	for _, n := range []int{100, 10_000, 90_000} {
		for _, uneven := range []bool{false, true} {
			for _, fitted := range []bool{false, true} {
				s := sizes{N: n, Q: 2, D: 1, Features: 160, Map: true, Uneven: uneven, Fitted: fitted, Seed: 1}
				p, side := testkit.Must(s.build())(t), math.Sqrt(float64(n))
				checkPlaces(t, p.data.X, int(side), uneven)
				checkMapFeatures(t, p.model.Params, side, fitted)
			}
		}
	}
}

// checkPlaces checks that rows are at each point of a grid once, or else that each quarter of the square has about a
// quarter of them.
func checkPlaces(t *testing.T, x []float64, side int, uneven bool) {
	t.Helper()
	at, quarters := map[[2]float64]bool{}, map[[2]bool]int{}
	for i := 0; i < len(x); i += 2 {
		a, b := x[i], x[i+1]
		whole := a == math.Trunc(a) && b == math.Trunc(b)
		if whole == uneven || min(a, b) < 0 || max(a, b) >= float64(side) {
			t.Fatalf("row at (%v, %v), uneven %v, side %d", a, b, uneven, side)
		}
		at[[2]float64{a, b}] = true
		quarters[[2]bool{2*a < float64(side), 2*b < float64(side)}]++
	}
	if len(at) != side*side {
		t.Errorf("%d different places, want %d", len(at), side*side)
	}
	for q, n := range quarters {
		if want := float64(side*side) / 4; math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
			t.Errorf("%d of %d rows in the quarter %v", n, side*side, q)
		}
	}
}

func checkMapFeatures(t *testing.T, m *vssgp.Params, side float64, fitted bool) {
	t.Helper()
	top, pairs := [2]float64{}, 0
	for i, f := range m.Frequency {
		top[i%2] = max(top[i%2], math.Abs(f)*side)
		if l := m.Lengthscale[i] / side; l < 0.1 || l > 0.3 {
			t.Errorf("component %d has a length-scale of %v ranges", i/2, l)
		}
	}
	if limit := min(mapCycles, highest*side); max(top[0], top[1]) > limit || min(top[0], top[1]) < limit/4 {
		t.Errorf("highest frequencies of %v cycles a range, want up to %v", top, limit)
	}
	for i := range m.FreqVar {
		reach := m.Lengthscale[i/2/m.K*2+i%2] / math.Sqrt(m.FreqVar[i]) / side
		if fitted && (reach < 1-1e-9 || reach > 10) || !fitted && (reach < 0.25 || reach > 1+1e-9) {
			t.Errorf("a feature reaches over %v ranges", reach)
		}
	}
	for k := 0; k < m.M(); k += 2 {
		a, b := 2*k, 2*k+2
		if m.FreqMean[a] == m.FreqMean[b] && m.FreqVar[a+1] == m.FreqVar[b+1] && m.Location[a] == m.Location[b] &&
			m.PhaseLower[k] != m.PhaseLower[k+1] {
			pairs++
		}
	}
	if fitted && pairs != m.M()/2 || !fitted && pairs > 0 {
		t.Errorf("%d pairs of %d features", pairs, m.M())
	}
}

// TestSpeedOfMap checks that two inputs use tables, with the same bound as passes over the rows, and that the cost of
// the tables is reported.
func TestSpeedOfMap(t *testing.T) {
	const args = "-inputs 2 -n 20000 -features 32 -repeats 1 -clocked=false -fitted"
	tables, rows := measured(t, args), measured(t, args+" -direct")
	if tables.Sums != fromTables || rows.Sums != overRows || tables.Tables == nil || rows.Tables != nil {
		t.Fatalf("sums %q and with -direct %q; tables %+v, %+v", tables.Sums, rows.Sums, tables.Tables, rows.Tables)
	}
	if tables.Tables.Seconds <= 0 || tables.Tables.Bytes < 16*20_000 {
		t.Errorf("%+v", tables.Tables)
	}
	if a, b := *tables.Bound, *rows.Bound; math.Abs(a-b) > 1e-11*math.Abs(b) {
		t.Errorf("bound %v with tables, %v without", a, b)
	}
}

// TestDirectIsComparedWithTables checks the ratio of the time of -direct to the same case with tables.
func TestDirectIsComparedWithTables(t *testing.T) {
	ok := timing{Evaluation: 0.5, Sums: fromTables, Status: machine.OK}
	slow := timing{Evaluation: 60, Sums: overRows, Status: machine.OK}
	r := &result{Speed: []record{
		{Case: "a", Device: "cpu", timing: ok}, {Case: "a direct", Device: "cpu", timing: slow},
		{Case: "b direct", Device: "cpu", timing: slow}, {Case: "a direct", Device: "card", timing: slow},
	}}
	for i, want := range []float64{0, 0.5, 0, 0} {
		if got := r.withTables(r.Speed[i]); got != want {
			t.Errorf("line %d: %v s with tables, want %v", i, got, want)
		}
	}
	var out bytes.Buffer
	r.print(&out)
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[2], " 120 ") || strings.Contains(lines[3]+lines[4], " 120 ") {
		t.Errorf("want a ratio of 120 in the second line of\n%s", &out)
	}
}

// TestShortFeatures checks that about the given share of the features, at random places, reaches over 1/20 of the rows,
// and that the option is checked.
func TestShortFeatures(t *testing.T) {
	s := sizes{N: 1000, Q: 1, D: 1, Features: 400, Short: 0.1, Seed: 1}
	m, short := testkit.Must(s.build())(t).model.Params, 0
	for k := range m.M() {
		if deviation := m.Lengthscale[k/m.K] / math.Sqrt(m.FreqVar[k]); math.Abs(deviation*cut-1000./20) < 1e-9 {
			short++
		} else if deviation < 250 {
			t.Errorf("feature %d extends over %v rows, want 250 to 1000", k, deviation)
		}
	}
	if short < 20 || short > 60 {
		t.Errorf("%d of %d features are short, want about 40", short, m.M())
	}
	for _, share := range []float64{-0.1, 1.1, math.NaN()} {
		s.Short = share
		if _, err := s.build(); err == nil {
			t.Errorf("share %v: no error", share)
		}
	}
}

// TestSpeedOfData checks that recordings, and tables with dates and missing values, are read and fitted, and that the
// fitted model is evaluated.
func TestSpeedOfData(t *testing.T) {
	dates := filepath.Join(t.TempDir(), "dates.csv")
	text := "day,level\n"
	for i := range 600 {
		cell := fmt.Sprint(math.Sin(float64(i)))
		if i%100 == 5 {
			cell = "NaN"
		}
		text += time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) + "," + cell + "\n"
	}
	testkit.OK(t, os.WriteFile(dates, []byte(text), 0o666))
	for path, rows := range map[string]int{dates: 594, "../testdata/co2_monthly.csv": 0, "../testdata/speech.wav": 46400} {
		r := measured(t, "-features 8 -fit 2 -repeats 1 -data "+path)
		if rows > 0 && r.N != rows || r.M != 8 || r.Data != filepath.Base(path) || r.Case != "exact "+r.Data+" M=8" || r.Fit == nil || r.Fit.Iterations != 2 {
			t.Errorf("%s: %+v, fit %+v", path, r, r.Fit)
		}
		if !(math.Abs(*r.Bound-r.Fit.Bound) <= 1e-9*math.Abs(r.Fit.Bound)) {
			t.Errorf("%s: bound %v of the fit, %v of the evaluation of its model", path, r.Fit.Bound, *r.Bound)
		}
	}
}

// TestBadData checks that unreadable data are usage errors.
func TestBadData(t *testing.T) {
	for name, c := range map[string]struct{ text, err string }{
		"one.csv": {"a\n1\n2\n", "one column"}, "missing.csv": {"a,b\n1,NaN\n2,\n", "no row has a value of b"}, "ragged.csv": {"a,b\n1\n", "fields"},
		"words.csv": {"a,b\n1,x\n2,y\n", "not a number"}, "bad.wav": {"none", "bad audio file"},
	} {
		path := filepath.Join(t.TempDir(), name)
		testkit.OK(t, os.WriteFile(path, []byte(c.text), 0o666))
		err := bench("speed", "-fit", "2", "-data", path)
		if exitCode(err) != 2 || !strings.Contains(err.Error(), c.err) || strings.Count(err.Error(), name) != 1 {
			t.Errorf("%s: exit status %d, %v; want 2 and %q", name, exitCode(err), err, c.err)
		}
	}
}

// TestGivenPeak checks that a given peak is not measured and that the factorized pass has
// separate kernels.
func TestGivenPeak(t *testing.T) {
	r := measured(t, "-n 1000 -features 32 -repeats 2 -inference factorized -peak 3")
	if r.Peak != 3 || r.Seconds[evaluating] != 0 || r.Matrices != 0 || r.Kernels["factorized.features"] <= 0 || r.Kernels["factorized.contraction"] <= 0 {
		t.Errorf("%+v", r)
	}
}

func measured(t *testing.T, args string) *record {
	t.Helper()
	r, _, err := parsed[*speedTask](t, "speed", args).measure()
	testkit.OK(t, err)
	return r
}

// fakePython is a shell script that replaces Python. It checks that the script and the dump
// exist, and has an answer for each peer.
const fakePython = `#!/bin/sh
case "$*" in
*"/celerite.py --n 60 --repeats 1 --terms 2 --mode gradient") echo '{"peer":"celerite2","mode":"gradient","version":"0","n":60,"seconds_per_evaluation":1000,"status":"ok"}'; exit ;;
*"/maps.py "*" --peer efgp --repeats 1") test -s "$2/x.npy" && echo '{"peer":"efgp","mode":"mean, 9×9 nodes","status":"ok","seconds_per_evaluation":1}'; exit ;;
esac
test "$2" = bound && test -s "$1" && test -s "$3/problem.json" && test -s "$3/gradient.noise.precision.npy" || exit 3
case "$5" in
numpy) echo "a warning"; echo '{"peer":"numpy","device":"cpu","version":"9","n":60,"features":6,"seconds_per_evaluation":1000,"seconds_range":[1,2000],"bound_difference":1e-15,"gradient_difference":0,"peak_bytes":1048576,"status":"ok"}' ;;
jax) echo '{"peer":"jax","device":"cpu","status":"missing: No module named jax"}' ;;
torch) echo "it fell over" >&2; exit 1 ;;
esac
`

// TestPeersHaveLines checks that each peer has a line, and a ratio if it was timed.
func TestPeersHaveLines(t *testing.T) {
	dir := t.TempDir()
	python := filepath.Join(dir, "python")
	testkit.OK(t, os.WriteFile(python, []byte(fakePython), 0o777))
	out := filepath.Join(dir, "lines")
	err := bench("speed", "-n", "60", "-features", "6", "-repeats", "1", "-peers", "numpy,jax,torch,celerite4", "-python", python, "-out", out)
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "it fell over") {
		t.Errorf("error %v, want the error of torch", err)
	}
	r := &result{}
	testkit.Must(jsonl.Read(out, r.add))(t)
	if len(r.Speed) != 1 || len(r.Peers) != 4 {
		t.Fatalf("%d of our lines, %d lines of peers", len(r.Speed), len(r.Peers))
	}
	if n := r.Speed[0].Repeats; n != 5 {
		t.Errorf("%d of our evaluations, want one before the peers and one after each", n)
	}
	for i, want := range []peerLine{{Peer: "numpy", Version: "9", Status: machine.OK}, {Peer: "jax", Status: "missing: No module named jax"}, {Peer: "torch", Status: "failed: exit status 1: it fell over"}, {Peer: "celerite4", Version: "0", Status: machine.OK}} {
		p := r.Peers[i]
		if p.Peer != want.Peer || p.Version != want.Version || p.Status != want.Status || p.N != 60 || p.Features != 6 || p.Device != "cpu" {
			t.Errorf("%+v, want %+v", p, want)
		}
		if timed := want.Status == machine.OK; timed != (p.Ratio > 0) || timed && math.Abs(p.Ratio*p.Ours-1000) > 1e-6 {
			t.Errorf("%s: ratio %v to %v s", p.Peer, p.Ratio, p.Ours)
		}
	}
}

// TestMapPeers checks that the methods for two inputs get the problem, and that their row names what they compute.
func TestMapPeers(t *testing.T) {
	python := filepath.Join(t.TempDir(), "python")
	testkit.OK(t, os.WriteFile(python, []byte(fakePython), 0o777))
	o := parsed[*speedTask](t, "speed", "-inputs 2 -n 60 -features 6 -repeats 1 -peers efgp -python "+python)
	r, peers, err := o.measure()
	testkit.OK(t, errors.Join(err, peersError(peers)))
	var out bytes.Buffer
	testkit.OK(t, o.report(&out, r, peers))
	testkit.Contains(t, out.String(), "efgp, mean, 9×9 nodes N=60")
	if len(peers) != 1 || peers[0].Ratio <= 0 {
		t.Errorf("%+v", peers)
	}
}

// TestNoPython checks that a missing Python is reported in a row and is not an error.
func TestNoPython(t *testing.T) {
	for _, python := range []string{filepath.Join(t.TempDir(), "none"), "no-python-of-this-name"} {
		o := parsed[*speedTask](t, "speed", "-n 60 -features 6 -repeats 1 -peers numpy -python "+python)
		_, peers, err := o.measure()
		if err != nil || len(peers) != 1 || !strings.HasPrefix(peers[0].Status, "missing: ") || peersError(peers) != nil {
			t.Errorf("%+v, error %v", peers, errors.Join(err, peersError(peers)))
		}
	}
}

// FuzzPeer checks that any output of a peer is parsed or rejected.
func FuzzPeer(f *testing.F) {
	f.Add([]byte("warning\n{\"peer\":\"numpy\",\"status\":\"ok\"}\n"))
	f.Add([]byte("{\"bound\":NaN,\"status\":\"ok\"}"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, out []byte) {
		if p, ok := readPeer(out); ok != (p.Status != "") {
			t.Errorf("%+v, %v", p, ok)
		}
	})
}

// TestAlgebraIsSeparatedFromSolve checks that the time of the algebra's kernels is separated from the time of
// Solve, except for the adjoint kernels, which the pullback launches. The total is unchanged.
func TestAlgebraIsSeparatedFromSolve(t *testing.T) {
	p := times{moments: 1, solving: 10, pullback: 5, hosted: 2}
	all := p.sum(passes...)
	p.split(times{"chain_start": 0.5, "chain_reduce": 2, "chain_factor": 1, "chain_inverse": 0.25, "dense_panel": 0.125, "chain_adjoint": 0.125, "dense_adjoint": 1, "moments_gram_64": 6})
	if want := (times{moments: 7.125, algebra: 3.875, pullback: 5, hosted: 2}); !maps.Equal(p, want) || p.sum(passes...) != all {
		t.Errorf("%+v, want %+v", p, want)
	}
	p = times{solving: 10}
	if p.split(times{"moments_gram_64": 6}); !maps.Equal(p, times{solving: 10}) {
		t.Errorf("without the algebra's kernels: %+v", p)
	}
}
