package fit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
)

// TestPriorFlag: what the flag's words mean.
func TestPriorFlag(t *testing.T) {
	none := vssgp.NoPriors()
	for text, want := range map[string]vssgp.Priors{
		"none": none, "noise=0.5, 2": {Noise: vssgp.Prior{Median: 0.5, SD: 2}}, "amplitude=3,1": {Amplitude: vssgp.Prior{Median: 3, SD: 1}},
		"lengthscale=none": {Lengthscale: none.Lengthscale},
	} {
		var got vssgp.Priors
		if err := priors(&got).Set(text); err != nil || got != want {
			t.Errorf("%q: %+v (%v), want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "noise", "noise=", "noise=1,2,3", "noise=a,1", "noise=0,1", "tau=1,1", "lengthscale=1,NaN"} {
		if err := priors(&vssgp.Priors{}).Set(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  []float64 // nil: refused
		timed bool
	}{
		{[]string{"1,1000"}, []float64{1, 1000}, false}, {[]string{"1", "0, 2e3"}, []float64{1, 0, 2000}, false},
		{[]string{"32ms,0.5s,2"}, []float64{0.032, 0.5, 2}, true}, {[]string{""}, nil, false}, {[]string{"1,"}, nil, false},
		{[]string{"1;2"}, nil, false},
	} {
		var values []float64
		var err error
		l := lengths(&values)
		for _, s := range c.flags {
			err = errors.Join(err, l.Set(s))
		}
		if (err != nil) != (c.want == nil) || err == nil && (!slices.Equal(values, c.want) || l.Timed != c.timed ||
			l.String() != strings.Join(c.flags, ",")) {
			t.Errorf("%q: %v, with time %v, error %v; want %v, %v", c.flags, values, l.Timed, err, c.want, c.timed)
		}
	}
}

func FuzzParseRows(f *testing.F) {
	for _, s := range []string{"0,5,10", "", ",", "-1", "1, 2", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var rows []int
		err := rowNumbers(&rows).Set(s)
		if err == nil && len(rows) != strings.Count(s, ",")+1 {
			t.Errorf("%q gives %v, want a row for each field", s, rows)
		}
		for _, r := range rows {
			if r < 0 {
				t.Errorf("%q gives row %d", s, r)
			}
		}
	})
}
