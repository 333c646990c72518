package cpu_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
)

// The CPU is the default backend. With a separate one, a program can measure where the time goes.
func ExampleNew() {
	b := cpu.New(cpu.Shared(), cpu.WithTimings()) // one workspace, because the rows are used in turn
	defer b.Close()
	data := &vssgp.Data{N: 300, Q: 1, D: 1}
	for i := range data.N {
		data.X, data.Y = append(data.X, float64(i)), append(data.Y, math.Sin(float64(i)/5))
	}
	model, result, err := vssgp.Fit(context.Background(), data, vssgp.Options{Backend: b, Components: 3, Iterations: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Device == b.Name(), model.Fitted())

	timings := b.Timings()
	slowest := slices.MaxFunc(timings, func(a, b backend.Timing) int { return cmp.Compare(a.Time, b.Time) })
	fmt.Println("measured:", len(timings) > 1, "the slowest part:", slowest.Kernel != "", slowest.Calls > 0)
	// Output:
	// true true
	// measured: true the slowest part: true true
}

// Results on processors with other instructions may differ in their last bits.
func ExampleInstructions() {
	fmt.Println(slices.Contains([]string{"go", "avx2", "avx512"}, cpu.Instructions()), "chosen by", cpu.Variable)
	// Output: true chosen by VSSGP_SIMD
}
