package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/spectral"
)

// deviceFlag is --device.
type deviceFlag struct {
	kind  string // auto, cpu or cuda
	index int    // of the GPU
}

// String is the flag as it is written.
func (d *deviceFlag) String() string {
	if d.kind == "cuda" && d.index > 0 {
		return fmt.Sprintf("cuda:%d", d.index)
	}
	return d.kind
}

// Type is what help calls the flag's argument.
func (d *deviceFlag) Type() string { return "device" }

// Set takes auto, cpu, cuda or cuda:n.
func (d *deviceFlag) Set(s string) error {
	kind, index, numbered := strings.Cut(s, ":")
	n, err := 0, error(nil)
	if numbered {
		n, err = strconv.Atoi(index)
	}
	switch {
	case kind != "auto" && kind != "cpu" && kind != "cuda",
		numbered && (kind != "cuda" || err != nil || n < 0):
		return fmt.Errorf("want auto, cpu, cuda or cuda:n")
	}
	d.kind, d.index = kind, n
	return nil
}

// cudaMissing is why this build has no GPU backend. The build with a GPU
// replaces this one place: backend and listDevices ask nothing else.
const cudaMissing = "this build has no GPU backend (it was built without -tags cuda)"

// backend is the backend that the flag asks for: auto takes the GPU where the
// build and the machine have one, else the CPU; cuda where there is none is an
// error.
func (d *deviceFlag) backend() (spectral.Backend, error) {
	if d.kind == "cuda" {
		return nil, fmt.Errorf("--device %s: %s; want --device cpu or auto", d, cudaMissing)
	}
	return cpu.New(), nil
}
