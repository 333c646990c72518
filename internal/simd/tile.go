package simd

import "fmt"

// A Tile contains the damped cosines of features over n rows, and the inputs of its methods. With d = x −
// z,
//
//	cos = g·e·cos θ,  sin = g·e·sin θ   e = exp(−½ Σ_q P_q d_q²),  θ = ω·d + c
//
// e² is not stored; it equals (cos² + sin²)/g².
type Tile struct {
	Cos, Sin Panels
	Params   FeatureParams
	Steps    Stepped   // for rows that are Steps.Delta apart; without Data for other rows
	X        []float64 // [n,Q] inputs
	Gate     []float64 // [n] g; if all are 1 and there is one input, Gate and Inv may be nil
	Inv      []float64 // [n] InverseSquares of Gate
	Acc, W   []float64 // [n,8], [Count,8] sums and weights of Fit: a fit in the same pass as the features; one input
	Starts   *Starts   // with a fit over even rows: starts of features that Factorized recomputes
}

// Rows returns rows [lo, hi) of the tile.
func (t *Tile) Rows(lo, hi int) Tile {
	part := func(a []float64, width int) []float64 {
		if a == nil {
			return nil
		}
		return a[lo*width : hi*width]
	}
	rows := *t
	rows.Cos, rows.Sin, rows.X = t.Cos.Rows(lo, hi), t.Sin.Rows(lo, hi), part(t.X, t.Params.Q)
	rows.Gate, rows.Inv, rows.Acc = part(t.Gate, 1), part(t.Inv, 1), part(t.Acc, Lanes)
	return rows
}

// Slice returns panels [lo, hi) of the tile.
func (t *Tile) Slice(lo, hi int) Tile {
	panels := *t
	panels.Cos, panels.Sin, panels.Params = t.Cos.Slice(lo, hi), t.Sin.Slice(lo, hi), t.Params.Slice(lo, hi)
	if t.Steps.Data != nil {
		panels.Steps = t.Steps.Slice(lo, hi)
	}
	if t.W != nil {
		panels.W = t.W[lo*Lanes : hi*Lanes]
	}
	return panels
}

// check panics unless the parts of the tile match, there is one input if one is true, and each of
// perRow has n numbers.
func (t *Tile) check(what string, one bool, perRow ...[]float64) {
	same(what, t.Cos, t.Sin)
	b, n := t.Params, t.Cos.N
	if b.Q < 1 || b.Count != t.Cos.Count || len(b.Data) < b.Count*(1+3*b.Q)*Lanes {
		panic(fmt.Sprintf("simd: %s: %d parameters for %d panels of %d inputs, %d panels of rows", what, len(b.Data), b.Count, b.Q,
			t.Cos.Count))
	}
	if len(t.X) != n*b.Q || t.Gate != nil && len(t.Gate) != n || t.Inv != nil && len(t.Inv) != n {
		panic(fmt.Sprintf("simd: %s: %d rows, %d numbers of %d inputs, %d gates, %d inverse squares",
			what, n, len(t.X), b.Q, len(t.Gate), len(t.Inv)))
	}
	if room := SteppedRoom(b.Count); t.Steps.Data != nil && len(t.Steps.Data) != room {
		panic(fmt.Sprintf("simd: %s: steps of %d numbers, must be %d", what, len(t.Steps.Data), room))
	}
	if (one || t.Steps.Data != nil) && b.Q != 1 {
		panic(fmt.Sprintf("simd: %s: %d inputs, must be one", what, b.Q))
	}
	for _, a := range perRow {
		if len(a) != n {
			panic(fmt.Sprintf("simd: %s: %d numbers for %d rows", what, len(a), n))
		}
	}
}

// Features computes the damped cosines and, if W is given, adds their contribution to a fit.
// Values of e below 1e-76 become 0. The phase is reduced in turns in float64, for up to 2⁴⁷ turns.
// Inputs, centers and phases that are not finite give NaN; |d| > 1e14 can, too.
//
// With Steps the inputs must have exactly the spacing Steps.Delta: x_n = x_0 + n·Delta without
// rounding. The result differs by some units in the last place of e.
//
// With Starts, Features does not always store features that Factorized can recompute, if the set in
// use has kernels for it (EvenFused).
func (t *Tile) Features() {
	if t.W == nil {
		t.check("Features", false, t.Gate)
	} else {
		t.check("Features", true)
		checkFit("Features", t.Acc, t.Cos, t.W)
	}
	t.features()
}

// features computes the features. Even rows are stepped in pieces from exact values.
func (t *Tile) features() {
	n := t.Cos.N
	if t.Starts != nil {
		t.Starts.resize(t.Params.Count)
	}
	pieces := (n + EvenMost - 1) / EvenMost
	switch {
	case t.Steps.Data == nil || n < EvenLeast:
		t.formula()
	case pieces == 1:
		t.through()
	default:
		for i := range pieces {
			piece := t.Rows(i*n/pieces, (i+1)*n/pieces)
			piece.Starts = nil
			piece.through()
		}
	}
}

// through steps through the panels and computes panels that cannot be stepped by the formula. It
// calls methods directly, so that no tile escapes to the heap.
func (t *Tile) through() {
	for at := 0; at < t.Params.Count; at++ {
		rest := t.Slice(at, t.Params.Count)
		if t.Starts != nil && EvenFused() {
			at += rest.begin(at)
		} else {
			at += rest.step()
		}
		if at < t.Params.Count {
			one := t.Slice(at, at+1)
			one.formula()
		}
	}
}

// begin computes the initial values and the fit of the panels from at on until one cannot be
// stepped. It returns the number of panels.
func (t *Tile) begin(at int) (done int) {
	to := t.Starts
	done, _ = evenStartVector(&to.data[at*startRows*Lanes], &t.X[0], first(t.Gate), &t.Acc[0], &t.W[0], &t.Params.Data[0], &t.Steps.Data[0],
		t.Cos.N, t.Params.Count)
	for i := range done {
		to.stepped[at+i] = true
	}
	return done
}

// step computes panels until one cannot be stepped, and returns their number.
func (t *Tile) step() int {
	b, cos, sin := t.Params, t.Cos, t.Sin
	if done, ok := evenVector(cos.row(0, 0), sin.row(0, 0), &t.X[0], first(t.Gate), first(t.Acc), first(t.W), &b.Data[0], &t.Steps.Data[0],
		cos.Stride, cos.N, cos.Count); ok {
		return done
	}
	for i := range b.Count {
		if !evenPlain(cos.Panel(i), sin.Panel(i), t.X, t.Gate, b.Panel(i), t.Steps.Slice(i, i+1).Data) {
			return i
		}
		t.fitPlain(i)
	}
	return b.Count
}

// formula computes each row independently.
func (t *Tile) formula() {
	if t.Cos.empty() {
		return
	}
	b, cos, sin := t.Params, t.Cos, t.Sin
	if !featureVector(cos.row(0, 0), sin.row(0, 0), &t.X[0], first(t.Gate), first(t.Acc), &b.Data[0], first(t.W), b.Q, cos.Stride, cos.N,
		cos.Count) {
		for i := range b.Count {
			featurePlain(cos.Panel(i), sin.Panel(i), t.X, b.Q, t.Gate, b.Panel(i))
			t.fitPlain(i)
		}
	}
}

// fitPlain adds panel i's contribution to the fit, if any.
func (t *Tile) fitPlain(i int) {
	if t.W != nil {
		fitPlain(t.Acc, t.Cos.Panel(i), t.W[i*Lanes:][:Lanes])
	}
}

// Step fills to, whose Data has SteppedRoom(b.Count) numbers, for rows with spacing to.Delta. b
// must have one input.
func (p FeatureParams) Step(to Stepped) {
	if p.Q != 1 || len(to.Data) != SteppedRoom(p.Count) {
		panic(fmt.Sprintf("simd: Step: %d inputs, must be one; %d numbers for %d panels", p.Q, len(to.Data), p.Count))
	}
	one := Panels{N: 1, Stride: 1, Count: 1}
	turn := Tile{Cos: one, Sin: one, Params: FeatureParams{Q: 1, Count: 1, Data: make([]float64, 4*Lanes)}, X: []float64{0}, Gate: []float64{1}}
	for i := range p.Count {
		par, out := p.Panel(i), to.Data[i*stepRows*Lanes:][:stepRows*Lanes]
		for lane := range Lanes {
			decay, freq := par[2*Lanes+lane], par[3*Lanes+lane]
			turn.Params.Data[lane] = reduced(freq, 2*to.Delta)
			out[stepBend*Lanes+lane] = expm1(-4 * decay * to.Delta * to.Delta)
			out[stepHalf*Lanes+lane] = expm1(-2 * decay * to.Delta * to.Delta)
			out[stepSlope*Lanes+lane] = 4 * decay * to.Delta
		}
		turn.Cos.Data, turn.Sin.Data = out[stepCos*Lanes:][:Lanes], out[stepSin*Lanes:][:Lanes]
		turn.formula()
	}
}

// first returns the address of a's first number, or nil if it is empty.
func first(a []float64) *float64 {
	if len(a) == 0 {
		return nil
	}
	return &a[0]
}
