package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
)

// Use the first GPU, or the CPU if there is none. A GPU needs a build with -tags cuda.
func ExampleOpen() {
	var b backend.Backend
	device, err := gpu.Open(gpu.Options{Ordinal: 0, Budget: 8 << 30, Timing: true})
	switch {
	case errors.Is(err, cuda.ErrNoDevice):
		log.Println(err) // why
		b = cpu.New()
	case err != nil:
		log.Fatal(err)
	default:
		b = device
	}
	defer b.Close()
	data, err := vssgp.NewData(4, []float64{0, 1, 2, 3}, []float64{1, 2, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	_, result, err := vssgp.Fit(context.Background(), data, vssgp.Options{Backend: b, Components: 1})
	var budget *gpu.BudgetError
	if errors.As(err, &budget) {
		log.Fatalf("%d rows need %d bytes, %d are free, %d rows would fit",
			budget.Rows, budget.Needed, budget.Free, budget.Fit)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("computed on", result.Device)
	if device != nil {
		for _, t := range device.Timings() {
			fmt.Println(t.Kernel, t.Calls, t.Time)
		}
		fmt.Println(device.Memory(), "bytes of device memory")
	}
}

// List the GPUs of this machine, with the reason why one cannot be used.
func ExampleDevices() {
	devices, err := gpu.Devices()
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range devices {
		fmt.Println(d, "usable:", d.Reason == "")
	}
}

// ParseOrdinal parses the number in a device's name such as cuda:1.
func ExampleParseOrdinal() {
	fmt.Println(gpu.ParseOrdinal("1"))
	_, err := gpu.ParseOrdinal("first")
	fmt.Println(err != nil)
	// Output:
	// 1 <nil>
	// true
}
