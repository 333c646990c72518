package series

import (
	"context"
	"fmt"
	"slices"

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
		Short: "Evaluate forecasts by rolling-origin backtesting",
		Long: `Forecasts the last --horizon rows of a series from the rows before them, then the rows
before these, --origins times, and scores the forecasts by RMSE, MAE, MASE, CRPS, interval
score and coverage of the 95 % intervals, and mean negative log predictive density. For
comparison it scores two naive forecasts: the last value and the value one season before
(from --period, --season, the calendar or the model). Columns and model are selected as
in "vssgp forecast".

Details: "vssgp help forecasting" and "vssgp help series".`,
		Example: `  vssgp backtest co2.csv --horizon 24
  vssgp backtest sales.csv --by shop --horizon 6mo
  vssgp backtest load.csv --horizon 48 --origins 10 --season 24 --season 168 --json`,
	}, func(ctx context.Context, args []string) error { return runBacktest(ctx, env, args[0], o) }, tableOperand)
	cmd.Annotations = cli.FlagGroups("Most used: horizon origins x y by period robust",
		"Input: dayfirst decimal yerr regressor holidays events trading-days days-of-year", modelGroup)
	f := cmd.Flags()
	o.columns.AddSeries(f)
	o.model.add(f)
	f.Var(o.horizon.flag(), "horizon", "`rows` of each forecast, or a time such as 6mo (default: 5 % of rows)")
	f.Var(cli.Count(&o.origins, maxPlaces), "origins", "`number` of forecast origins")
	return cmd
}

func runBacktest(ctx context.Context, env *cli.Env, path string, o *backtestFlags) error {
	r, err := seriesOf(ctx, env, path, o.columns, &o.model, false)
	if err != nil {
		return err
	}
	all, err := each(ctx, env, r, func(one *timeSeries) (*series.Backtested, *series.Model, *result, error) {
		b, err := one.backtest(ctx, env, o)
		if err != nil {
			return nil, nil, nil, err
		}
		return b, nil, one.resultOf(b), nil
	})
	if err != nil {
		return err
	}
	return all.finish(ctx, env, nil, &answer{}, func() {
		if first := all.finished[0]; r.byName == "" {
			env.Print("%s, %s of %s each, %.1f s on %s", cli.Counted(len(r.X), "row"), cli.Counted(first.value.Origins, "forecast"),
				cli.Counted(first.value.Horizon, "row"), first.result.Took.Seconds(), device)
		}
		for d, name := range r.yNames {
			printScoresHead(env, name)
			means := map[string][]series.Scores{}
			for _, one := range all.finished {
				if r.byName != "" {
					printScores(env, one.name, one.value.Model[d])
				}
				for _, of := range methodsOf(one.value) {
					means[of.name] = append(means[of.name], of.scores[d])
				}
			}
			if r.byName != "" {
				printScoresHead(env, "mean of all")
			}
			for _, of := range methodsOf(all.finished[0].value) {
				printScores(env, of.name, series.MeanScores(means[of.name]))
			}
			printVerdict(env, all, d)
		}
		printUnseasonal(env, all)
	})
}

// printVerdict prints a line if a naive forecast of output d has a lower CRPS than the model, which scores the whole
// distribution.
func printVerdict(env *cli.Env, all *run[*series.Backtested], d int) {
	better := 0
	for _, one := range all.finished {
		b := one.value
		best := method{"naive", b.Naive}
		if b.Seasonal[d].CRPS < b.Naive[d].CRPS {
			best = method{"seasonal_naive", b.Seasonal}
		}
		model, naive := b.Model[d].CRPS, best.scores[d].CRPS
		if !(naive < model) {
			continue
		}
		if better++; all.table.byName == "" {
			env.Print("%s is better than the model for %s: its CRPS is %s, the model's %s", best.name, all.table.yNames[d],
				cli.Short(naive), cli.Short(model))
		}
	}
	if all.table.byName != "" && better > 0 {
		env.Print("a naive forecast has a lower CRPS than the model for %d of %d series", better, len(all.finished))
	}
}

// printUnseasonal prints a line if both naive forecasts are the same because there is no season.
func printUnseasonal(env *cli.Env, all *run[*series.Backtested]) {
	without := 0
	for _, one := range all.finished {
		if one.value.Season[0] == 1 {
			without++
		}
	}
	switch {
	case without == 0:
	case all.table.byName == "":
		env.Print("seasonal_naive equals naive, because there is no season")
	default:
		env.Print("seasonal_naive equals naive for %d of %d series, because they have no season", without, len(all.finished))
	}
}

func printScoresHead(env *cli.Env, name string) {
	env.Print("%-15s %10s %10s %10s %10s %10s %10s %10s", name, "RMSE", "MAE", "MASE", "CRPS", "interval", "coverage95", "NLPD")
}

func printScores(env *cli.Env, name string, s series.Scores) {
	env.Print("%-15s %10s %10s %10s %10s %10s %10.3f %10s", name, cli.Short(s.RMSE), cli.Short(s.MAE), cli.Short(s.MASE),
		cli.Short(s.CRPS), cli.Short(s.Interval95), s.Coverage95, cli.Short(s.NLPD))
}

// A method is a forecasting method with its scores by output.
type method struct {
	name   string
	scores []series.Scores
}

func methodsOf(b *series.Backtested) []method {
	return []method{{"vssgp", b.Model}, {"naive", b.Naive}, {"seasonal_naive", b.Seasonal}}
}

// resultOf returns the result for --json.
func (r *timeSeries) resultOf(b *series.Backtested) *result {
	s := &scores{Origins: b.Origins, Season: b.Season[0]}
	s.Scores = methods{series.MeanScores(b.Model), series.MeanScores(b.Naive), series.MeanScores(b.Seasonal)}
	if len(r.yNames) > 1 {
		s.ByOutput = map[string]methods{}
		for d, name := range r.yNames {
			s.ByOutput[name] = methods{b.Model[d], b.Naive[d], b.Seasonal[d]}
		}
	}
	return &result{Horizon: b.Horizon, Scores: s}
}

// backtest scores forecasts from earlier origins in the series.
func (r *timeSeries) backtest(ctx context.Context, env *cli.Env, o *backtestFlags) (*series.Backtested, error) {
	err := r.check(o.model.positive)
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
	if len(forecast) > 0 {
		r.tested = &forecast[0]
	}
	options, err := seriesOptions(env, &o.model, r)
	if err != nil {
		return nil, err
	}
	if _, err := r.known.columns(forecast); err != nil { // this error has the time in the table's format
		return nil, err
	}
	if err := r.checkOrigins(o.origins, rows); err != nil {
		return nil, err
	}
	options.Progress = r.showing(env, "fitting from %s", cli.Counted(o.origins, "origin"))
	options.Progress(0)
	b, err := series.Backtest(ctx, r.Series, rows, o.origins, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.path, err)
	}
	return b, nil
}

// checkOrigins returns an error, with the number of origins that fit, if the series has too few rows for a backtest.
func (r *timeSeries) checkOrigins(origins, horizon int) error {
	rows, required := len(r.X), series.MinTrainingRows+origins*horizon
	if origins < 1 || rows >= required { // series.Backtest refuses 0 origins
		return nil
	}
	hint := fmt.Sprintf("at least %d rows are required", series.MinTrainingRows+1)
	if left := rows - series.MinTrainingRows; left >= horizon {
		hint = fmt.Sprintf("use --origins %d", left/horizon)
	} else if left > 0 {
		hint = fmt.Sprintf("use --origins 1 and --horizon %d, or a shorter one", left)
	}
	return cli.Mistake("%s: %s of %s each and %d rows before the first need %d rows, but the series has %d; %s", r.path,
		cli.Counted(origins, "forecast"), cli.Counted(horizon, "row"), series.MinTrainingRows, required, rows, hint)
}
