package restore

import (
	"reflect"
	"runtime"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio/internal/timewarp"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// resolved returns the method that Fill will use. It is never Auto.
func (o *Options) resolved() Method {
	switch {
	case o.Method != Auto:
		return o.Method
	case o.forVSSGP():
		return VSSGP
	}
	return Mixture
}

// forVSSGP reports whether an option is set that only VSSGP supports.
func (o *Options) forVSSGP() bool {
	m := o.Model
	m.Backend, m.Seed, m.MemoryLimit, m.Progress, m.Checkpoint = nil, 0, 0, nil, vssgp.CheckpointOptions{} // supported by all methods
	return !reflect.ValueOf(m).IsZero() || o.All || o.Context != 0
}

// checkMethod returns an error for an unknown method, options that the method does not support, negative numbers, and checkpoints.
func (o *Options) checkMethod() error {
	if o.Model.Checkpoint.Path != "" || o.Model.Checkpoint.Resume {
		return fault.Errorf(vssgp.ErrOptions, "checkpoints are not supported")
	}
	if o.Draws < 0 {
		return fault.Errorf(vssgp.ErrOptions, "number of draws is %d, must be at least 0", o.Draws)
	}
	switch o.Method {
	case Auto, VSSGP:
	case Mixture, Natural, AR:
		if o.forVSSGP() {
			return fault.Errorf(vssgp.ErrOptions, "method %s does not support model options or a context; use method vssgp", o.Method)
		}
	default:
		return fault.Errorf(vssgp.ErrOptions, "unknown method %q, must be mixture, natural, ar or vssgp", o.Method)
	}
	return nil
}

// candidates returns the candidate models of each method that uses a gapFiller.
var candidates = map[Method]func() timewarp.Candidates{
	Mixture: timewarp.Mixture, Natural: timewarp.Mixture, AR: timewarp.AR,
}

// workers returns the number of excerpts or gaps to fill in parallel.
func workers(excerpts int) int { return min(runtime.GOMAXPROCS(0), excerpts) }
