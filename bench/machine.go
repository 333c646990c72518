package main

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// thisMachine is the machine with the card that a measurement uses.
func thisMachine(o *speedFlags, device string) machine.Machine {
	m := machine.This(o.commit)
	if device != "cpu" {
		m.GPU, m.PTX = card(o.device)
		m.Driver = o.driver
	}
	return m
}

// deviceBytes is the most device memory that the backend has held, 0 where it
// does not say.
func deviceBytes(b spectral.Backend) int64 {
	if m, ok := b.(interface{ Memory() int64 }); ok {
		return m.Memory()
	}
	return 0
}

// card is the name of the first card that a device flag names, and the hash of
// the PTX that it runs.
func card(device string) (name, ptx string) {
	_, ordinals, err := parseDevice(device)
	if err != nil {
		return "", ""
	}
	first := 0
	if len(ordinals) > 0 {
		first = ordinals[0]
	}
	list, err := cuda.Devices()
	if err != nil {
		return "", ""
	}
	for _, d := range list {
		if d.Ordinal != first {
			continue
		}
		image, err := kernels.Image(d.Major, d.Minor)
		if err != nil {
			return d.Name, ""
		}
		sum := sha256.Sum256(image)
		return d.Name, hex.EncodeToString(sum[:])
	}
	return "", ""
}
