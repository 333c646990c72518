package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/bench/internal/mma"
)

// mmaTask is `bench mma`.
type mmaTask struct {
	image, device, out, commit string
	ordinal                    int
}

// An mmaLine is a line of `bench mma -out`.
type mmaLine struct {
	Bench   string          `json:"bench"`
	Time    string          `json:"time"`
	Machine machine.Machine `json:"machine"`
	mma.Result
}

func (o *mmaTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.image, "image", "", "the kernels: internal/mma/mma.cu, compiled by nvcc")
	set.StringVar(&o.device, "device", "cuda", "cuda or cuda:n")
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	commitFlag(set, &o.commit)
}

func (o *mmaTask) check(files []string) (err error) {
	kind, ordinal, err := parseDevice(o.device)
	o.ordinal = ordinal
	return cmp.Or(err, demandFiles(files, 0, ""), demand(kind == "cuda", "-device %s: must be a GPU", o.device),
		demand(o.image != "", "-image is required"))
}

func (o *mmaTask) run() error {
	image, err := os.ReadFile(o.image)
	if err != nil {
		return err
	}
	all, err := mma.Run(image, o.ordinal)
	if err != nil {
		return err
	}
	line := mmaLine{Bench: "mma", Time: machine.Now(), Machine: withCard(machine.This(o.commit), o.ordinal)}
	for _, line.Result = range all {
		fmt.Printf("%2d terms, %d warps a partition, operands in %-9s  %5.1f TFLOP/s\n", line.Terms, line.Warps,
			line.Operands, line.TFLOPS)
		if o.out != "" {
			if err := jsonl.Append(o.out, line); err != nil {
				return err
			}
		}
	}
	return nil
}
