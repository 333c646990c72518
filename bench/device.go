package main

import (
	"fmt"
	"strings"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/spectral"
)

// parseDevice reads cpu, cuda or cuda:n[,m…]; no ordinal means card 0. There
// is no auto: a measurement names what it measures.
func parseDevice(s string) (kind string, ordinals []int, err error) {
	kind, list, numbered := strings.Cut(s, ":")
	if kind != "cpu" && kind != "cuda" || numbered && kind == "cpu" {
		return "", nil, fmt.Errorf("-device %q: want cpu, cuda or cuda:n[,m…]", s)
	}
	if !numbered {
		return kind, nil, nil
	}
	if ordinals, err = gpu.ParseOrdinals(list); err != nil {
		return "", nil, fmt.Errorf("-device %q: %w", s, err)
	}
	return kind, ordinals, nil
}

// openDevice opens what a device flag names; timing has a card's kernels timed.
func openDevice(device, precision string, timing bool) (spectral.Backend, error) {
	kind, ordinals, err := parseDevice(device)
	if err != nil {
		return nil, err
	}
	p := gpu.Float64
	if precision == "mixed" {
		p = gpu.Mixed
	}
	if kind == "cpu" {
		if p == gpu.Mixed {
			return nil, fmt.Errorf("-precision mixed: the CPU computes in float64 alone; want -device cuda")
		}
		return cpu.New(), nil
	}
	b, err := gpu.Open(gpu.Options{Ordinals: ordinals, Precision: p, Timing: timing})
	if err != nil {
		return nil, fmt.Errorf("-device %s: %w", device, err)
	}
	return b, nil
}
