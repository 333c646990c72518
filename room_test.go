package vssgp

import "testing"

// TestRoom: what evaluations leave behind does not show in the next one,
// whatever its shape.
func TestRoom(t *testing.T) {
	var shared room
	for _, c := range []kind{
		{name: "large", n: 20, l: 3, k: 5, q: 2, d: 2}, {name: "small", n: 20, l: 2, k: 2, q: 1, d: 1},
		{name: "windows", n: 40, l: 6, k: 3, q: 1, d: 1, windows: 6}, {name: "as many, no windows", n: 20, l: 6, k: 3, q: 1, d: 1},
	} {
		p, data := c.make()
		h, err := mustModel(t, p).hold(data)
		if err != nil {
			t.Fatal(c.name, err)
		}
		for _, inference := range []Inference{Exact, Factorised} {
			h.room = room{}
			want, err := h.evaluate(p, inference, nil, true)
			if err != nil {
				t.Fatal(c.name, err)
			}
			fresh := want.Gradient
			h.room = shared
			got, err := h.evaluate(p, inference, nil, true)
			if err != nil {
				t.Fatal(c.name, err)
			}
			shared = h.room
			if got.Bound != want.Bound {
				t.Errorf("%s, %s: bound %v in used room, %v in new", c.name, inference, got.Bound, want.Bound)
			}
			for i, tensor := range got.Gradient.Tensors() {
				near(t, c.name+", "+string(inference)+": "+tensor.Name, *tensor.Data, *fresh.Tensors()[i].Data, 0)
			}
		}
		h.room = room{}
		if err := h.close(); err != nil {
			t.Error(c.name, err)
		}
	}
}
