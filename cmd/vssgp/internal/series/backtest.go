package series

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/series"
)

// backtestFlags are the flags of backtest.
type backtestFlags struct {
	model   Flags
	columns datafile.Columns
	horizon horizon
	origins int
}

// NewBacktest returns the command backtest.
func NewBacktest(env *cli.Env) *cobra.Command {
	o := &backtestFlags{origins: 6}
	cmd := env.Command(&cobra.Command{
		Use:   "backtest DATA",
		Short: "Score forecasts from earlier ends of a series",
		Long: `Forecasts the last --horizon rows of a series from the rows before, then the rows before
these, --origins times, each time with a model of the earlier rows alone, and scores the
forecasts: RMSE, MAE, MASE (the MAE over the MAE of the seasonal naive forecast within the
earlier rows), CRPS, the interval score and the share of rows inside of the 95 % intervals, and
the mean negative log density. The naive forecasts are scored, too: the last value, and the value one season
before, with the Gaussian band of their own errors. Columns are chosen as by forecast. Of
several outputs the scores are means, and --json has the scores of each in by_output. With --by
each series of the table is scored, and means over the series follow.
` + modelHelp,
		Example: `  vssgp backtest co2.csv --horizon 24
  vssgp backtest sales.csv --by shop --horizon 6mo
  vssgp backtest load.csv --horizon 48 --origins 10 --season 24 --season 168 --json`,
	}, func(ctx context.Context, args []string) error { return runBacktest(ctx, env, args[0], o) }, tableOperand)
	f := cmd.Flags()
	o.columns.AddSeries(f)
	o.model.add(f)
	f.Var(o.horizon.flag(), "horizon", "`rows` of each forecast, or a time such as 6mo (default: a twentieth of all)")
	f.Var(cli.Count(&o.origins, mostPlaces), "origins", "`ends` to forecast from")
	return cmd
}

func runBacktest(ctx context.Context, env *cli.Env, path string, o *backtestFlags) error {
	r, err := seriesOf(ctx, env, path, o.columns, &o.model, false)
	if err != nil {
		return err
	}
	if r.byName != "" {
		return backtestBy(ctx, env, r, o)
	}
	began := time.Now()
	b, err := r.backtest(ctx, env, o)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.PrintJSON(cli.Object{
			"horizon", b.Horizon, "origins", b.Origins, "rows", len(r.X), "season", b.Season[0],
			"scores", scoresOf(b, series.MeanScores), "by_output,omitempty", r.scoresByOutput(b), "seconds", time.Since(began), "device", device,
		})
	}
	env.Print("%s, %s of %s each, %.1f s on %s", cli.Counted(len(r.X), "row"), cli.Counted(b.Origins, "forecast"),
		cli.Counted(b.Horizon, "row"), time.Since(began).Seconds(), device)
	for d, name := range r.yNames {
		printScoresHead(env, name)
		for _, of := range methods(b) {
			printScores(env, of.name, of.scores[d])
		}
	}
	return nil
}

func printScoresHead(env *cli.Env, name string) {
	env.Print("%-15s %10s %10s %10s %10s %10s %10s %10s", name, "RMSE", "MAE", "MASE", "CRPS", "interval", "coverage95", "NLPD")
}

func printScores(env *cli.Env, name string, s series.Scores) {
	env.Print("%-15s %10s %10s %10s %10s %10s %10.3f %10s", name, cli.Short(s.RMSE), cli.Short(s.MAE), cli.Short(s.MASE),
		cli.Short(s.CRPS), cli.Short(s.Interval95), s.Coverage95, cli.Short(s.NLPD))
}

// A method is one that forecasts, with its scores by output.
type method struct {
	name   string
	scores []series.Scores
}

func methods(b *series.Backtested) []method {
	return []method{{"vssgp", b.Model}, {"naive", b.Naive}, {"seasonal_naive", b.Seasonal}}
}

// scoresOf are the scores by method that pick makes of those by output.
func scoresOf(b *series.Backtested, pick func([]series.Scores) series.Scores) (all cli.Object) {
	for _, of := range methods(b) {
		all = append(all, of.name, pick(of.scores))
	}
	return all
}

// scoresByOutput are the scores of each of several outputs; nil for one.
func (r *timeSeries) scoresByOutput(b *series.Backtested) (all cli.Object) {
	if len(r.yNames) == 1 {
		return nil
	}
	for d, name := range r.yNames {
		all = append(all, name, scoresOf(b, func(all []series.Scores) series.Scores { return all[d] }))
	}
	return all
}

// backtest scores forecasts from earlier ends of the series.
func (r *timeSeries) backtest(ctx context.Context, env *cli.Env, o *backtestFlags) (*series.Backtested, error) {
	options, err := seriesOptions(env, &o.model, r)
	if err != nil {
		return nil, err
	}
	rows := max(1, len(r.X)/20)
	if env.Flags.Changed("horizon") {
		if rows, err = o.horizon.of(r); err != nil {
			return nil, err
		}
	}
	forecast := slices.Sorted(slices.Values(r.X))[max(0, len(r.X)-rows*o.origins):]
	if _, err := r.known.columns(forecast); err != nil { // names the place as the table has it
		return nil, err
	}
	done := r.busy(env, "fitting from %s", cli.Counted(o.origins, "origin"))
	b, err := series.Backtest(ctx, r.Series, rows, o.origins, options)
	done()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.path, err)
	}
	return b, nil
}

// backtestBy scores the forecasts of each series of a table, and prints means over the series.
func backtestBy(ctx context.Context, env *cli.Env, r *timeSeries, o *backtestFlags) error {
	all, err := sideBySide(ctx, env, r, func(one *timeSeries) (*series.Backtested, cli.Object, error) {
		began := time.Now()
		b, err := one.backtest(ctx, env, o)
		if err != nil {
			return nil, nil, err
		}
		return b, cli.Object{
			"horizon", b.Horizon, "origins", b.Origins, "season", b.Season[0],
			"scores", scoresOf(b, series.MeanScores), "by_output,omitempty", one.scoresByOutput(b), "seconds", time.Since(began),
		}, nil
	})
	if err != nil {
		return err
	}
	return all.finish(env, nil, func() {
		for d, name := range r.yNames {
			printScoresHead(env, name)
			means := map[string][]series.Scores{}
			for _, w := range all.good {
				printScores(env, w.name, w.result.Model[d])
				for _, of := range methods(w.result) {
					means[of.name] = append(means[of.name], of.scores[d])
				}
			}
			printScoresHead(env, "mean of all")
			for _, of := range methods(all.good[0].result) {
				printScores(env, of.name, series.MeanScores(means[of.name]))
			}
		}
	})
}
