package main

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// parseDevice reads cpu, cuda or cuda:n; without a number it is card 0. There is no auto: a measurement names what it measures.
func parseDevice(s string) (kind string, ordinal int, err error) {
	kind, number, numbered := strings.Cut(s, ":")
	if kind != "cpu" && kind != "cuda" || numbered && kind == "cpu" {
		return "", 0, fmt.Errorf("-device %q: want cpu, cuda or cuda:n", s)
	}
	if numbered {
		if ordinal, err = gpu.ParseOrdinal(number); err != nil {
			return "", 0, fmt.Errorf("-device %q: %w", s, err)
		}
	}
	return kind, ordinal, nil
}

// openDevice opens the CPU or a card, whose kernels can be timed.
func openDevice(kind string, ordinal int, timing bool) (spectral.Backend, error) {
	if kind == "cpu" {
		return cpu.New(), nil
	}
	return gpu.Open(gpu.Options{Ordinal: ordinal, Timing: timing})
}

// withCard is a machine with the card of that number and its program, as far as they are known.
func withCard(m machine.Machine, ordinal int) machine.Machine {
	list, _ := cuda.Devices() // where they cannot be listed, the line has no card
	for _, d := range list {
		if d.Ordinal != ordinal {
			continue
		}
		m.GPU = d.Name
		if image, err := kernels.Image(d.Major, d.Minor); err == nil {
			m.PTX = fmt.Sprintf("%x", sha256.Sum256(image))
		}
	}
	return m
}
