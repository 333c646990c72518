package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/vssgp/vssgp"
)

// TestJSON: what results hold that encoding/json has no text for or another one.
func TestJSON(t *testing.T) {
	type part struct {
		Name   string `json:"name"`
		hidden int
		Silent int
		Left   int `json:"-"`
	}
	two := 2
	for _, c := range []struct {
		v    any
		want string
	}{
		{[]float64{1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-7, 1234567, math.Copysign(0, -1)}, `[1,null,null,null,1e-07,1.234567e+06,-0]`},
		{1500 * time.Millisecond, `1.5`},
		{[]vssgp.Term{{Name: "noise", Value: -2}, {Name: "fit", Value: math.NaN()}}, `{"noise":-2,"fit":null}`},
		{Object{"b", 1, "a", []any{nil, [2]int{1, 2}}, "c,omitempty", Object{}, "d,omitempty", nil, "e,omitempty", math.NaN()},
			`{"b":1,"a":[null,[1,2]],"e":null}`},
		{part{Name: "<a> & \"b\"\n", hidden: 1, Silent: 1, Left: 1}, `{"name":"<a> & \"b\"\n"}`},
		{struct {
			part
			None  []int  `json:"none"`
			Empty []int  `json:"empty,omitempty"`
			Map   Object `json:"map,omitempty"`
			Zero  *int   `json:"zero,omitempty"`
			Two   *int   `json:"two,omitempty"`
			Yes   bool   `json:"yes"`
		}{part: part{Name: "x"}, Empty: []int{}, Map: Object{}, Two: &two, Yes: true}, `{"name":"x","none":null,"two":2,"yes":true}`},
	} {
		var b bytes.Buffer
		env := &Env{Stdout: &b}
		if err := env.PrintJSON(c.v); err != nil || b.String() != c.want+"\n" || !json.Valid(b.Bytes()) {
			t.Errorf("%#v: %v, %s, want %s", c.v, err, b.String(), c.want)
		}
	}
}
