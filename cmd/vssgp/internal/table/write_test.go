package table

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestWriteCSV(t *testing.T) {
	data := []float64{0.1, 1e6, 123456789, 1e21, -1e-7, 1.0 / 3, math.Copysign(0, -1), maxNumber, 5e-324, 48000.5}
	text := "0.1,1000000\n123456789,1e+21\n-1e-07,0.3333333333333333\n-0,1e+150\n5e-324,48000.5\n"
	for header, names := range map[string][]string{
		"t,\"a, \"\"b\"\"\"\n": {"t", "a, \"b\""}, "\"#1\",y\n": {"#1", "y"}, // # begins a comment
	} {
		var b bytes.Buffer
		testkit.OK(t, WriteCSV(&b, names, data))
		testkit.Equal(t, b.String(), header+text, header)
		same(t, testkit.Must(readCSV(&b, "f.csv"))(t), names, data)
	}
}

func TestWriteCSVRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		names   []string
		data    []float64
		message string
	}{
		"no columns":    {nil, nil, "0 columns"},
		"no rows":       {[]string{"t"}, nil, "whole rows"},
		"half a row":    {[]string{"t", "y"}, []float64{1, 2, 3}, "3 values for 2 columns"},
		"NaN":           {[]string{"t", "y"}, []float64{1, 2, 3, math.NaN()}, `row 1, column "y": NaN`},
		"infinity":      {[]string{"t"}, []float64{math.Inf(-1)}, "-Inf"},
		"same name":     {[]string{"t", "t"}, []float64{1, 2}, "both named"},
		"no name":       {[]string{"", "t"}, []float64{1, 2}, "no name"},
		"number":        {[]string{"1", "2"}, []float64{1, 2}, `named "1"`},
		"space around":  {[]string{" t"}, []float64{1}, "space"},
		"line in it":    {[]string{"a\nb"}, []float64{1}, "printable"},
		"name not UTF8": {[]string{"\xff"}, []float64{1}, "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			oneLine(t, WriteCSV(io.Discard, c.names, c.data), c.message)
		})
	}
	broken := errors.New("broken")
	testkit.Fails(t, WriteCSV(brokenWriter{broken}, []string{"t"}, make([]float64, 1<<16)), broken, "")
}

// A brokenWriter returns an error for each write.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }
