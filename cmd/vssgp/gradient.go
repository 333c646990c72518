package main

import (
	"encoding/json"
	"math"

	"github.com/vssgp/vssgp"
)

// nullable is a tensor for JSON: nested lists of its shape, null where the
// value is not finite or where there is none.
type nullable struct {
	shape  []int
	data   []float64
	absent []bool // entries without a value
}

// gradientOf lays a gradient out by the names of the model file. Entries that
// are constants of the model have none; a tensor of such entries only is left
// out, and so are the coefficients under the exact bound, which has solved for
// them.
func gradientOf(p, g *vssgp.Params, inference vssgp.Inference) map[string]nullable {
	out := map[string]nullable{}
	for _, t := range g.Tensors() {
		coefficient := t.Name == "coefficient.mean" || t.Name == "coefficient.variance"
		if coefficient && inference == vssgp.Exact {
			continue
		}
		n := nullable{shape: t.Shape, data: *t.Data, absent: make([]bool, len(*t.Data))}
		fixed := 0
		for i := range n.absent {
			if n.absent[i] = p.Fixed(t.Name, i); n.absent[i] {
				fixed++
			}
		}
		if fixed < len(n.absent) {
			out[t.Name] = n
		}
	}
	return out
}

// largest is the largest magnitude.
func (n nullable) largest() float64 {
	m := 0.0
	for i, v := range n.data {
		if !n.absent[i] {
			m = max(m, math.Abs(v))
		}
	}
	return m
}

// MarshalJSON writes nested lists.
func (n nullable) MarshalJSON() ([]byte, error) {
	v, _ := n.nest(n.shape, 0)
	return json.Marshal(v)
}

// nest is the part of the tensor of the given shape that starts at entry at,
// and the entry after it.
func (n nullable) nest(shape []int, at int) (any, int) {
	if len(shape) == 0 {
		v := number(n.data[at])
		if n.absent[at] {
			v = number(math.NaN())
		}
		return v, at + 1
	}
	list := make([]any, shape[0])
	for i := range list {
		list[i], at = n.nest(shape[1:], at)
	}
	return list, at
}
