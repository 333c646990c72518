package restore

import (
	"fmt"
	"reflect"
	"runtime"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/timewarp"
)

// Resolved returns the method that the options ask for, which is not Auto.
func (o *Options) Resolved() Method {
	switch {
	case o.Method != Auto:
		return o.Method
	case o.forVSSGP():
		return VSSGP
	}
	return Mixture
}

// forVSSGP reports whether an option is set that only VSSGP has.
func (o *Options) forVSSGP() bool {
	m := o.Model
	m.Backend, m.Seed, m.MemoryLimit, m.Progress, m.Checkpoint = nil, 0, 0, nil, vssgp.CheckpointOptions{} // which all methods have
	return !reflect.ValueOf(m).IsZero() || o.All || o.Context != 0
}

// checkMethod refuses unknown methods, options that the method does not have, negative numbers, and checkpoints.
func (o *Options) checkMethod() error {
	if o.Model.Checkpoint.Path != "" || o.Model.Checkpoint.Resume {
		return fmt.Errorf("restore: a fill has no checkpoint: %w", vssgp.ErrOptions)
	}
	if o.Draws < 0 {
		return fmt.Errorf("restore: %d draws, must be 0 or more: %w", o.Draws, vssgp.ErrOptions)
	}
	switch o.Method {
	case Auto, VSSGP:
	case Mixture, AR:
		if o.forVSSGP() {
			return fmt.Errorf("restore: method %s has neither a model's options nor a context; want method vssgp for them: %w", o.Method,
				vssgp.ErrOptions)
		}
	default:
		return fmt.Errorf("restore: method %q; want one of mixture, ar, vssgp: %w", o.Method, vssgp.ErrOptions)
	}
	return nil
}

// candidates are the candidate models of the methods that fill gap by gap.
var candidates = map[Method]func() timewarp.Candidates{Mixture: timewarp.Mixture, AR: timewarp.AR}

// workers returns how many excerpts or gaps are filled at the same time.
func workers(excerpts int) int { return min(runtime.GOMAXPROCS(0), excerpts) }
