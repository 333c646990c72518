package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
)

// object is a JSON object: each key, which may end in ",omitempty" as in a json tag, with its value after it. They are printed in this order.
type object []any

// printJSON writes one object on stdout, whole or not at all.
func (a *app) printJSON(v any) error {
	if a.results != nil {
		*a.results = append(*a.results, v)
		return nil
	}
	_, err := a.stdout.Write(append(appendJSON(nil, reflect.ValueOf(v)), '\n'))
	return err
}

// appendJSON appends v as encoding/json writes it, with four exceptions: a number that
// is not finite is null, a duration is in seconds, the terms of a bound are an object in
// their own order, and fields without a json tag are left out.
func appendJSON(b []byte, v reflect.Value) []byte {
	if !v.IsValid() {
		return append(b, "null"...)
	}
	var o object
	switch x := v.Interface().(type) {
	case object:
		return appendObject(b, x)
	case time.Duration:
		return appendNumber(b, x.Seconds())
	case []vssgp.Term:
		for _, t := range x {
			o = append(o, t.Name, t.Value)
		}
		return appendObject(b, o)
	}
	switch v.Kind() {
	case reflect.Float64:
		return appendNumber(b, v.Float())
	case reflect.Pointer, reflect.Interface:
		return appendJSON(b, v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return append(b, "null"...)
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, v.Index(i))
		}
		return append(b, ']')
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if tag := f.Tag.Get("json"); tag != "" && tag != "-" {
				o = append(o, tag, v.FieldByIndex(f.Index).Interface())
			}
		}
		return appendObject(b, o)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v.Interface()); err != nil {
		panic("print JSON: " + err.Error())
	}
	return append(b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}

func appendObject(b []byte, o object) []byte {
	b = append(b, '{')
	for pair := range slices.Chunk(o, 2) {
		key, optional := strings.CutSuffix(pair[0].(string), ",omitempty")
		v := reflect.ValueOf(pair[1])
		if optional && (!v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
			continue
		}
		if b[len(b)-1] != '{' { // no value ends in it
			b = append(b, ',')
		}
		b = append(appendJSON(b, reflect.ValueOf(key)), ':')
		b = appendJSON(b, v)
	}
	return append(b, '}')
}

// appendNumber appends the shortest text that reads back as the same float64.
func appendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// say prints a line of a result for people on stdout.
func (a *app) say(format string, args ...any) {
	to := a.stdout
	if a.aside {
		to = a.stderr
	}
	if !a.quiet && !a.json {
		fmt.Fprintf(to, format+"\n", args...)
	}
}

// inputNames returns the model's names of its inputs, or x, or x0, x1, … if it has none.
func inputNames(m *vssgp.Model) []string { return report.Names(m.XNames, m.Params.Q, "x") }

// outputNames returns the model's names of its outputs, or y, or y0, y1, … if it has none.
func outputNames(m *vssgp.Model) []string { return report.Names(m.YNames, m.Params.D, "y") }

// counted writes a number of things, such as 1 gap or 3 gaps.
var counted = report.Counted

// short writes a number for people, a dash if it is not finite.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.5g", v)
}

// row writes numbers for people.
func row(a []float64) string {
	parts := make([]string, len(a))
	for i, v := range a {
		parts[i] = short(v)
	}
	return strings.Join(parts, " ")
}

// pairs writes numbers with their standard deviations.
func pairs(a, sd []float64) string {
	parts := make([]string, len(a))
	for i := range a {
		parts[i] = short(a[i]) + " +- " + short(sd[i])
	}
	return strings.Join(parts, "; ")
}

// sayComponents lists the components with these indices.
func (a *app) sayComponents(all []vssgp.Component, order []int) {
	a.say("  %9s  %-20s %-20s %-20s", "component", "sd", "length-scale", "period")
	for _, i := range order {
		c, window := all[i], ""
		if c.Window != nil {
			window = fmt.Sprintf(" window %d", *c.Window)
		}
		a.say("  %9d  %-20s %-20s %-20s%s", i, row(c.SD), row(c.Lengthscale), row(c.Period), window)
	}
}

// firstNumbers returns 0 to n-1.
func firstNumbers(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// settings returns the flags of the command line, for a report.
func (a *app) settings() (s []report.Setting) {
	a.flags.Visit(func(f *pflag.Flag) { s = append(s, report.Setting{Name: "--" + f.Name, Value: f.Value.String()}) })
	return s
}

// reportFile returns a document as a file to write. The path's extension has been checked.
func (a *app) reportFile(path string, d *report.Document) fileio.File {
	d.Foot = append(d.Foot, a.version)
	return fileio.File{Path: path, Write: func(w io.Writer) error {
		as, err := report.FormatOf(path)
		if err != nil {
			return err
		}
		return d.Write(w, as)
	}}
}

const (
	meterWidth = 110 // of the line at most; a terminal may be narrower
	meterEvery = 100 * time.Millisecond
)

// meter shows how far a computation is, on one line of stderr; nil shows nothing.
type meter struct {
	bar  *pb.ProgressBar
	next time.Time // when it may be drawn again
}

// newMeter returns a meter if --progress and --quiet allow one, else nil.
func (a *app) newMeter() *meter {
	if a.progress != "always" && (a.progress != "auto" || a.quiet || !isTerminal(a.stderr)) {
		return nil
	}
	// Static: only draw writes it, on the goroutine that reports progress.
	line := pb.ProgressBarTemplate(`{{string . "what"}} {{bar . "[" "=" ">" " " "]"}} {{counters .}} {{string . "rest"}}`)
	bar := line.New(1).SetMaxWidth(meterWidth).SetWriter(a.stderr).
		Set(pb.Static, true).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set(pb.CleanOnFinish, true)
	return &meter{bar: bar}
}

func isTerminal(w io.Writer) bool {
	if s, ok := w.(*stream); ok {
		w = s.to
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress shows how far a fit is: the bound, the noise's standard deviation and the time
// left.
func (m *meter) progress(p vssgp.Progress) {
	what := p.Stage
	if p.Starts > 1 {
		what = fmt.Sprintf("start %d/%d, %s", p.Start, p.Starts, p.Stage)
	}
	m.draw(what, p.Iteration, p.Iterations, fmt.Sprintf("bound %.6g noise %.3g left %v", p.Bound, p.NoiseSD, p.Left.Round(time.Second)))
}

// fitting shows how far a fill is whose excerpts are fitted one by one.
func (m *meter) fitting(p restore.Progress) {
	done, of := p.Iteration, p.Iterations
	if of == 0 { // nothing is iterated: count excerpts
		done, of = p.Excerpt, p.Excerpts
	}
	m.progress(vssgp.Progress{
		Stage: fmt.Sprintf("excerpt %d/%d", p.Excerpt, p.Excerpts), Iteration: done, Iterations: of, Bound: p.Bound, NoiseSD: p.NoiseSD, Left: p.Left,
	})
}

// filling shows how many gaps are filled, and the time left.
func (m *meter) filling(p restore.Progress) {
	m.draw("gaps", p.Excerpt, p.Excerpts, "left "+p.Left.Round(time.Second).String())
}

// showRows shows how many rows are done since the work began, and the time left.
func (m *meter) showRows(what string, done, of int, began time.Time) {
	left := time.Duration(float64(time.Since(began)) * float64(of-done) / float64(max(1, done)))
	m.draw(what, done, of, "left "+left.Round(time.Second).String())
}

func (m *meter) draw(what string, done, of int, rest string) {
	if m == nil || of < 1 || time.Now().Before(m.next) {
		return
	}
	m.next = time.Now().Add(meterEvery)
	m.bar.Set("what", what).Set("rest", rest)
	m.bar.SetTotal(int64(of)).SetCurrent(int64(done)).Write()
}

// clear removes the line.
func (m *meter) clear() {
	if m != nil && !m.next.IsZero() {
		m.bar.Finish().Write()
		m.next = time.Time{}
	}
}
