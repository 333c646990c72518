package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func TestParsePaper(t *testing.T) {
	for _, c := range []struct{ args, err string }{
		{"", ""},
		{"-set solar,co2 -method gp -data d -out o -quick -seeds 2 -again", ""},
		{"-quick -draw -out o", ""},
		{"-quick -draw", "-out"},
		{"-set gaps speech:a.wav", ""},
		{"-seeds many", "many"}, {"-nonsense", "nonsense"},
	} {
		o, err := parse("paper", strings.Fields(c.args), io.Discard)
		switch {
		case c.err == "" && (err != nil || o.(*paperTask).Data == ""):
			t.Errorf("%q: %+v, %v", c.args, o, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: error %v, want one that names %s", c.args, err, c.err)
		}
	}
	o := parsed[*paperTask](t, "paper", "-set solar,co2 -method gp,vfe")
	if len(o.Sets) != 2 || len(o.Methods) != 2 || o.Sets[1] != "co2" || o.Methods[0] != "gp" {
		t.Errorf("%+v", o)
	}
}

// TestPaperMistakes: the caller's mistakes end with exit code 2.
func TestPaperMistakes(t *testing.T) {
	out := t.TempDir()
	for _, args := range [][]string{
		{"-set", "lunar", "-out", out}, {"-set", "co2", "-data", filepath.Join(out, "none"), "-out", out}, {"-seeds", "-1", "-out", out}, {"-draw", "-again", "-out", out},
		{"-nonsense"}, {"-set", "solar", "-out", out, "speech:a.wav"}, {"-set", "gaps", "-out", out, "a.wav"},
	} {
		if err := bench("paper", args...); exitCode(err) != 2 || err == nil {
			t.Errorf("%v: exit %d, %v", args, exitCode(err), err)
		}
	}
	if exitCode(errors.New("another")) != 1 {
		t.Error("any error is taken for a mistake")
	}
}
