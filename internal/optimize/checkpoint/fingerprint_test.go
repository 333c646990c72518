package checkpoint

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestOptionsTraits checks that every field of the options is a trait under its flag's name,
// except for the excluded ones.
func TestOptionsTraits(t *testing.T) {
	all := Options(struct {
		NoisePrecision float64
		Fix            []string
		Batch          struct{ Rows int }
		Warn           func(error)
	}{0.1, []string{"a", "b"}, struct{ Rows int }{3}, nil}, "Warn")
	if is, want := fmt.Sprint(all), "[{option noise-precision 0.1} {option fix [a b]} {option batch-rows 3}]"; is != want {
		t.Errorf("traits %s, want %s", is, want)
	}
}

// TestDataTrait checks that the trait depends on every name and on the last bit of every number.
func TestDataTrait(t *testing.T) {
	x, y := []float64{1, 2, 3, 4}, []float64{5, 6}
	was := Data(2, 2, 1, x, y, []string{"a", "b"}, []string{"c"})
	if again := Data(2, 2, 1, x, y, []string{"a", "b"}, []string{"c"}); again != was || !strings.HasPrefix(was.Value, "2 rows of 2 inputs and 1 outputs, sha256 ") {
		t.Errorf("%v, then %v", was, again)
	}
	for what, other := range map[string]Trait{
		"a number":  Data(2, 2, 1, []float64{1, 2, 3, math.Nextafter(4, 5)}, y, []string{"a", "b"}, []string{"c"}),
		"an output": Data(2, 2, 1, x, []float64{5, math.Nextafter(6, 5)}, []string{"a", "b"}, []string{"c"}),
		"a name":    Data(2, 2, 1, x, y, []string{"a", "b"}, []string{"d"}),
		"whose":     Data(2, 2, 1, x, y, []string{"a"}, []string{"b", "c"}),
		"sizes":     Data(2, 1, 2, x, y, []string{"a", "b"}, []string{"c"}),
	} {
		if other == was {
			t.Errorf("%s does not change the trait", what)
		}
	}
}

// TestDiffer checks that the differing traits are listed, the first with both values, except for
// the excluded ones.
func TestDiffer(t *testing.T) {
	is := []Trait{{"a", "1"}, {"b", "2"}, {"gone", "3"}}
	for _, c := range []struct {
		want   []Trait
		except []string
		text   string
	}{
		{is, nil, ""},
		{[]Trait{{"gone", "3"}, {"b", "2"}, {"a", "1"}}, nil, ""},
		{[]Trait{{"a", "1"}, {"b", "4"}, {"gone", "3"}}, nil, "b: in the checkpoint 2, here 4"},
		{[]Trait{{"a", "1"}, {"b", "4"}, {"new", "5"}}, nil, "b: in the checkpoint 2, here 4; also new, gone"},
		{[]Trait{{"a", "1"}, {"b", "4"}, {"new", "5"}}, []string{"b", "gone"}, "new: in the checkpoint none, here 5"},
		{[]Trait{{"a", "1"}, {"b", "4"}, {"gone", "3"}}, []string{"b"}, ""},
	} {
		if text := Differ(is, c.want, c.except...); text != c.text {
			t.Errorf("%v and %v, except %v: %q, want %q", is, c.want, c.except, text, c.text)
		}
	}
}

// TestBuildTraitIdentifiesProgram checks that the build trait is stable and identifies the program.
func TestBuildTraitIdentifiesProgram(t *testing.T) {
	first := testkit.Must(Build())(t)
	again, err := Build()
	if err != nil || again != first || first.Name != "build" || !strings.HasPrefix(first.Value, "go") || !strings.Contains(first.Value, "vssgp") {
		t.Errorf("%v, then %v (%v)", first, again, err)
	}
	if !strings.Contains(first.Value, "vcs.revision=") && !strings.Contains(first.Value, "sha256 ") {
		t.Errorf("%q has neither a revision nor a hash of the program", first.Value)
	}
}
