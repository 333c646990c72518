package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
)

// windowLength is auto, none, or a length along x, which may be a time.
func windowLength(to *float64) *value {
	v := &value{kind: "length", words: []string{"auto", "none"}}
	v.set = func(s string) (err error) {
		v.timed = false
		switch s {
		case "none":
			*to = vssgp.WindowNone
		case "auto":
			*to = vssgp.WindowAuto
		default:
			*to, v.timed, err = parseLength(s)
		}
		return err
	}
	return v
}

// lengths are numbers in units of x or times, with commas between. Which are
// allowed the library says.
func lengths(to *[]float64) *value {
	v := &value{kind: "numbers", list: true}
	v.set = func(s string) error {
		for one := range strings.SplitSeq(s, ",") {
			n, timed, err := parseTimed(strings.TrimSpace(one))
			if err != nil {
				return fmt.Errorf("%.40q; want numbers, or times such as 32ms or 0.5s, with commas between", one)
			}
			*to, v.timed = append(*to, n), v.timed || timed
		}
		return nil
	}
	return v
}

// contextLength is a time such as 60ms, or all of the recording.
func contextLength(after *time.Duration, all *bool) *value {
	return &value{kind: "time", words: []string{"all"}, set: func(s string) error {
		if *after, *all = 0, s == "all"; *all {
			return nil
		}
		v, timed, err := parseLength(s)
		const most = 1e6 // seconds: more than any recording, less than a Duration holds
		if err != nil || !timed || v > most {
			return fmt.Errorf("want a time such as 60ms or 0.1s, or all")
		}
		*after = time.Duration(v * float64(time.Second))
		return nil
	}}
}

// withoutTimes refuses times as lengths along a table's inputs.
func withoutTimes(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(*value); ok && v.timed && err == nil {
			err = mistake("--%s %v: a table's x need not be time; want plain numbers in units of x", f.Name, v)
		}
	})
	return err
}

// parseLength reads a positive number, which may be a time with the unit s or
// ms; a time comes back in seconds.
func parseLength(s string) (v float64, timed bool, err error) {
	v, timed, err = parseTimed(s)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, false, fmt.Errorf("want a positive number, or a time such as 32ms or 0.5s")
	}
	return v, timed, nil
}

// parseTimed reads a number, which may be a time as for parseLength.
func parseTimed(s string) (v float64, timed bool, err error) {
	text, unit := s, 1.0
	if t, ok := strings.CutSuffix(s, "ms"); ok {
		text, unit, timed = t, 1e-3, true
	} else if t, ok := strings.CutSuffix(s, "s"); ok {
		text, timed = t, true
	}
	v, err = strconv.ParseFloat(text, 64)
	return v * unit, timed, err
}
