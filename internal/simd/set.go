package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that overrides the best set of the processor.
const Variable = "VSSGP_SIMD"

var (
	use    Set   // set in use
	useErr error // error of Variable
)

func init() {
	use = best()
	if name := os.Getenv(Variable); name != "" {
		if useErr = Use(name); useErr != nil {
			useErr = fmt.Errorf("environment variable %s: %w", Variable, useErr)
		}
	}
}

// Chosen returns the set in use. If the environment variable names a set that cannot be used, it
// returns the best set of the processor and an error with the reason.
func Chosen() (Set, error) { return use, useErr }

// Sets returns the sets of this processor, beginning with the plain one.
func Sets() []Set {
	all := []Set{Plain, AVX2, AVX512}
	return all[:best()+1]
}

// Use makes all kernels run the named set, and returns an error if the processor does not have it.
// It must not be called while a kernel runs.
func Use(name string) error {
	s, err := named(name, best())
	if err == nil {
		use = s
	}
	return err
}

// named returns the set with the given name on a processor with the given widest set.
func named(name string, widest Set) (Set, error) {
	has := strings.Join(names[:widest+1], ", ")
	switch i := slices.Index(names[:], name); {
	case i < 0:
		return 0, fmt.Errorf("%.40q is not an instruction set; must be one of %s", name, has)
	case Set(i) > widest:
		return 0, fmt.Errorf("this processor does not have the instruction set %s; must be one of %s", name, has)
	default:
		return Set(i), nil
	}
}
