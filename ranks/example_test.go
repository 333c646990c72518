package ranks_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"sync"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/ranks"
)

// Three ranks, here goroutines, fit one model: rank 0 has the data and calls Fit, the others call
// Serve. Under mpirun each would be a process, with World instead of Group.
func Example() {
	open := func(string) (backend.Backend, error) { return cpu.New(cpu.Shared()), nil }
	fit := func(all []ranks.Comm) float64 {
		var others sync.WaitGroup
		for _, c := range all[1:] {
			others.Go(func() {
				if err := ranks.Serve(c, open); err != nil {
					log.Fatal(err)
				}
			})
		}
		b, err := ranks.New(all[0], cpu.New(cpu.Shared()), "")
		if err != nil {
			log.Fatal(err)
		}
		data := &vssgp.Data{N: 200, Q: 1, D: 1}
		for n := range data.N {
			x := 0.1 * float64(n)
			data.X, data.Y = append(data.X, x), append(data.Y, math.Sin(x)+0.1*math.Cos(50*x*x))
		}
		_, result, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 2, Iterations: 20, Backend: b})
		if err != nil {
			log.Fatal(err)
		}
		if err := b.Close(); err != nil {
			log.Fatal(err)
		}
		ranks.Quit(all[0])
		others.Wait()
		return result.Bound
	}
	alone := fit(ranks.Group(1))
	fmt.Println("the same bound to the last bit:", fit(ranks.Group(3)) == alone)
	// Output: the same bound to the last bit: true
}
