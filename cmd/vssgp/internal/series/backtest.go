package series

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/series"
)

// backtestFlags are the flags of backtest.
type backtestFlags struct {
	model            Flags
	columns          datafile.Columns
	horizon, origins int
}

// NewBacktest returns the command backtest.
func NewBacktest(env *cli.Env) *cobra.Command {
	o := &backtestFlags{origins: 6}
	cmd := env.Command(&cobra.Command{
		Use:   "backtest DATA",
		Short: "Score forecasts from earlier ends of a series, beside naive ones",
		Long: `Forecasts the last --horizon rows of a series from the rows before, then the rows before
these, --origins times, each time with a model of the earlier rows alone, and scores the
forecasts: RMSE, MAE, MASE (the MAE over that of the seasonal naive forecast within the
earlier rows), CRPS, the share of rows inside the 95 % intervals, and the mean negative log
density. Beside it stand the naive forecasts: the last value, and the value one season
before, with the Gaussian band of their own errors. Columns are chosen as by forecast; of
several outputs the scores are means, and --json has those of each in by_output.
` + modelHelp,
		Example: `  vssgp backtest co2.csv --horizon 24
  vssgp backtest load.csv --horizon 48 --origins 10 --season 24 --season 168 --json`,
	}, func(ctx context.Context, args []string) error { return runBacktest(ctx, env, args[0], o) }, tableOperand)
	f := cmd.Flags()
	o.columns.AddSeries(f)
	o.model.add(f)
	f.Var(cli.Count(&o.horizon, mostPlaces), "horizon", "`rows` of each forecast (default: a twentieth of all)")
	f.Var(cli.Count(&o.origins, mostPlaces), "origins", "`ends` to forecast from")
	return cmd
}

func runBacktest(ctx context.Context, env *cli.Env, path string, o *backtestFlags) error {
	r, err := seriesOf(ctx, env, path, o.columns, &o.model, false)
	if err != nil {
		return err
	}
	options, err := seriesOptions(env, &o.model, r)
	if err != nil {
		return err
	}
	if !env.Flags.Changed("horizon") {
		o.horizon = max(1, len(r.X)/20)
	}
	began := time.Now()
	done := env.Busy("fitting from %s", cli.Counted(o.origins, "origin"))
	b, err := series.Backtest(ctx, r.Series, o.horizon, o.origins, options)
	done()
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	all := []struct {
		name   string
		scores []series.Scores
	}{{"vssgp", b.Model}, {"naive", b.Naive}, {"seasonal_naive", b.Seasonal}}
	var scores cli.Object
	byOutput := make([]cli.Object, len(r.yNames))
	for _, of := range all {
		scores = append(scores, of.name, series.MeanScores(of.scores))
		for d, s := range of.scores {
			byOutput[d] = append(byOutput[d], of.name, s)
		}
	}
	if env.JSON {
		var named cli.Object
		for d, name := range r.yNames {
			named = append(named, name, byOutput[d])
		}
		if len(r.yNames) == 1 {
			named = nil
		}
		return env.PrintJSON(cli.Object{
			"horizon", b.Horizon, "origins", b.Origins, "rows", len(r.X), "season", b.Season[0], "scores", scores, "by_output,omitempty",
			named,
			"seconds", time.Since(began), "device", env.Device.Name(),
		})
	}
	env.Print("%s, %s of %s each, %.1f s on %s", cli.Counted(len(r.X), "row"), cli.Counted(b.Origins, "forecast"),
		cli.Counted(b.Horizon, "row"), time.Since(began).Seconds(), env.Device.Name())
	for d, name := range r.yNames {
		env.Print("%-15s %10s %10s %10s %10s %10s %10s", name, "RMSE", "MAE", "MASE", "CRPS", "coverage95", "NLPD")
		for _, of := range all {
			s := of.scores[d]
			env.Print("%-15s %10s %10s %10s %10s %10.3f %10s", of.name, cli.Short(s.RMSE), cli.Short(s.MAE), cli.Short(s.MASE),
				cli.Short(s.CRPS),
				s.Coverage95, cli.Short(s.NLPD))
		}
	}
	return nil
}
