package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that names the set to use instead of
// the processor's best.
const Variable = "VSSGP_SIMD"

var (
	use    Set   // what the kernels run
	useErr error // why Variable could not be followed
)

func init() {
	use = best()
	if name := os.Getenv(Variable); name != "" {
		if useErr = Use(name); useErr != nil {
			useErr = fmt.Errorf("the environment's %s: %w", Variable, useErr)
		}
	}
}

// Chosen returns the set in use. The error says why it is not the set that the
// environment names; it is then the processor's best.
func Chosen() (Set, error) { return use, useErr }

// Sets returns the sets that this processor has, the plain one first.
func Sets() []Set {
	all := []Set{Plain, AVX2, AVX512}
	return all[:best()+1]
}

// Use makes all kernels run the named set, and fails if the processor does not
// have it. It must not be called while a kernel runs.
func Use(name string) error {
	s, err := named(name, best())
	if err == nil {
		use = s
	}
	return err
}

// named returns the set of that name on a processor whose widest set is given.
func named(name string, widest Set) (Set, error) {
	has := strings.Join(names[:widest+1], ", ")
	switch i := slices.Index(names[:], name); {
	case i < 0:
		return 0, fmt.Errorf("%.40q is not an instruction set; want one of %s", name, has)
	case Set(i) > widest:
		return 0, fmt.Errorf("this processor does not have the instruction set %s; want one of %s", name, has)
	default:
		return Set(i), nil
	}
}
