package ranks_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/ranks"
)

// A program for mpirun: rank 0 fits a model, the others serve it. Started directly, it fits
// alone. MPI needs a build with -tags mpi.
func ExampleWorld() {
	c, leave, err := ranks.World()
	switch library, built := ranks.MPI(); {
	case errors.Is(err, ranks.ErrNotBuilt), errors.Is(err, ranks.ErrLauncher):
		log.Fatalf("MPI of this build: %t (%s): %v", built, library, err)
	case err != nil:
		log.Fatal(err)
	}
	defer leave()
	log.Println(ranks.ShareCores(), "cores for process", ranks.LocalRank(), "of this machine")

	open := func(string) (backend.Backend, error) { return cpu.New(cpu.Shared()), nil }
	if c != nil && c.Rank() > 0 {
		if err := ranks.Serve(c, open); err != nil {
			log.Print(err)
		}
		return
	}
	options := vssgp.Options{Components: 2}
	if c != nil {
		defer ranks.Quit(c)
		b, err := ranks.New(c, cpu.New(cpu.Shared()), "")
		if err != nil {
			log.Print(err)
			return
		}
		defer b.Close()
		options.Backend = b
		defer func() {
			times := b.Times()
			log.Println(times.Passes, "passes:", times.Compute, "computing,", times.Waiting, "waiting")
		}()
	}
	data, err := vssgp.NewData(4, []float64{0, 1, 2, 3}, []float64{1, 2, 1, 2}) // rank 0 alone has the data
	if err != nil {
		log.Print(err)
		return
	}
	_, result, err := vssgp.Fit(context.Background(), data, options)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println("bound", result.Bound)
}
