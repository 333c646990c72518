package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/table"
)

// A dump is problem.json of a folder that `bench speed -dump` writes for peers
// beside x.npy [N,Q], y.npy [N,D], NAME.npy for each tensor of the model file
// and gradient.NAME.npy for the bound's gradient by it.
type dump struct {
	N         int        `json:"n"`
	Q         int        `json:"inputs"`
	D         int        `json:"outputs"`
	L         int        `json:"components"`
	K         int        `json:"features_per_component"`
	M         int        `json:"features"`
	Windows   int        `json:"windows"` // 0: none
	Seed      uint64     `json:"seed"`
	Inference string     `json:"inference"`
	Bound     float64    `json:"bound"`
	Terms     []dumpTerm `json:"terms"`
	Tensors   []string   `json:"tensors"`
}

type dumpTerm struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// write puts the problem, its bound and its gradient into a folder.
func (p *problem) write(dir, inference string, e *vssgp.Evaluation) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	m := p.model.Params
	d := dump{N: p.N, Q: p.Q, D: p.D, L: m.L, K: m.K, M: m.M(), Windows: len(m.Windows.Center), Seed: p.Seed, Inference: inference, Bound: e.Bound}
	for _, t := range e.Terms {
		d.Terms = append(d.Terms, dumpTerm(t))
	}
	if err := writeArray(dir, "x", []int{p.N, p.Q}, p.data.X); err != nil {
		return err
	}
	if err := writeArray(dir, "y", []int{p.N, p.D}, p.data.Y); err != nil {
		return err
	}
	gradient := e.Gradient.Tensors()
	for i, t := range m.Tensors() {
		d.Tensors = append(d.Tensors, t.Name)
		if err := writeArray(dir, t.Name, t.Shape, *t.Data); err != nil {
			return err
		}
		if err := writeArray(dir, "gradient."+t.Name, t.Shape, *gradient[i].Data); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "problem.json"), append(text, '\n'), 0o666)
}

func writeArray(dir, name string, shape []int, data []float64) error {
	var b bytes.Buffer
	if err := table.WriteNPY(&b, shape, data); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".npy"), b.Bytes(), 0o666)
}
