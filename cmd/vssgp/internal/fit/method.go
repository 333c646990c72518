package fit

import (
	"cmp"
	"context"
	"slices"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	seriescmd "github.com/vssgp/vssgp/cmd/vssgp/internal/series"
)

// structural is the method of package series; the others are package vssgp's.
const structural = "structural"

// given are the first flags that belong to the structural model, and to the other methods; "" where there is none.
func (o *fitFlags) given() (series, model string) {
	series, model = cli.FirstGiven(o.ofSeries), cli.FirstGiven(o.ofModel)
	for _, name := range o.priors {
		switch {
		case name == "noise":
		case slices.Contains(seriescmd.PriorNames, name):
			series = cmp.Or(series, "prior "+name)
		default:
			model = cmp.Or(model, "prior "+name)
		}
	}
	return series, model
}

// isStructural chooses the model of a fit: by --method; else by a flag that belongs to one; else the structural one for a table with one
// input.
func isStructural(ctx context.Context, env *cli.Env, path string, o *fitFlags) (is bool, err error) {
	o.Series.HMC, o.model.o.HMC = o.hmc, o.hmc
	series, model := o.given()
	switch method := o.model.Method; {
	case series != "" && model != "":
		return false, cli.Mistake("--%s belongs to --method structural, and --%s to vssgp; want flags of one of them", series, model)
	case method == structural && model != "":
		return false, cli.Mistake("--%s belongs to --method vssgp; want --method vssgp, or leave the flag out", model)
	case method != "" && method != structural && series != "":
		return false, cli.Mistake("--%s belongs to --method structural; want --method structural, or leave the flag out", series)
	case method != "" || series != "":
		is = method == structural || method == ""
	case model != "" || !datafile.IsTable(path):
		return false, nil
	default:
		if is, err = datafile.HasOneInput(ctx, env, path, o.Columns); err != nil {
			return false, err
		}
	}
	return is, nil
}
