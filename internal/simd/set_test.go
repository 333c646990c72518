package simd

import (
	"os"
	"strings"
	"testing"
)

func TestUseSelectsInstructionSet(t *testing.T) {
	was := use
	defer func() { use = was }()
	for s, name := range names {
		err := Use(name)
		if has := Set(s) <= best(); has != (err == nil) {
			t.Errorf("Use(%q): %v, and the processor has %v", name, err, Sets())
		}
		if err == nil && use != Set(s) {
			t.Errorf("Use(%q) selects %v", name, use)
		}
	}
	for _, name := range []string{"", "sse2", "AVX2", "avx512 "} {
		use = Plain
		if err := Use(name); err == nil || use != Plain {
			t.Errorf("Use(%q): %v, set %v", name, err, use)
		}
	}
}

// TestMissingSetListsAvailable checks that the error for a missing set lists the available ones.
func TestMissingSetListsAvailable(t *testing.T) {
	for _, c := range []struct {
		name   string
		widest Set
		want   Set
		err    string
	}{
		{"go", Plain, Plain, ""}, {"go", AVX512, Plain, ""}, {"avx2", AVX512, AVX2, ""}, {"avx512", AVX512, AVX512, ""},
		{"avx512", AVX2, 0, "does not have the instruction set avx512; must be one of go, avx2"}, {"avx2", Plain, 0, "avx2; must be one of go"},
		{"bogus", AVX2, 0, `"bogus" is not an instruction set; must be one of go, avx2`},
	} {
		s, err := named(c.name, c.widest)
		if c.err == "" && (err != nil || s != c.want) || c.err != "" && (err == nil || !strings.HasSuffix(err.Error(), c.err)) {
			t.Errorf("%s where %v is the widest: %v, %v; want %v, %q", c.name, c.widest, s, err, c.want, c.err)
		}
	}
}

// TestChosen checks that the best set is used without the variable, and the named one with it.
func TestChosen(t *testing.T) {
	want := best().String()
	if name := os.Getenv(Variable); name != "" {
		want = name
	}
	set, err := Chosen()
	if err == nil && set.String() != want {
		t.Errorf("%v is in use, want %s", set, want)
	}
	if err != nil && (set != best() || !strings.Contains(err.Error(), Variable)) {
		t.Errorf("%v is in use: %v", set, err)
	}
}

// TestSetsOf checks that every set except the plain one runs assembly.
func TestSetsOf(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		if vector := peakVector(1); vector != (use != Plain) {
			t.Errorf("%v: runs assembly: %v", use, vector)
		}
	})
}
