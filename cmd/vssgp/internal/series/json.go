package series

import (
	"slices"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// The objects that --json prints. docs/json.md describes them.

// A result describes a series and what was computed of it.
type result struct {
	Rows    int           `json:"rows"`
	Horizon int           `json:"horizon,omitzero"` // of forecast and backtest, in rows
	Filled  *int          `json:"filled,omitzero"`  // of fill, in cells
	Summary *summary      `json:",embed"`           // nil: nothing was fitted
	Scores  *scores       `json:",embed"`           // of backtest
	Took    time.Duration `json:"seconds,omitzero"`
}

// A summary describes a fitted model.
type summary struct {
	Periods  []float64           `json:"periods"`
	Parts    []string            `json:"parts"`
	Log      bool                `json:"log,omitzero"`
	NoiseSD  []float64           `json:"noise_sd"` // by output
	Bound    float64             `json:"bound"`
	Features int                 `json:"features"`
	Outliers map[string][]string `json:"outliers,omitempty"` // by output, the inputs of its outliers
}

// scores are those of a backtest.
type scores struct {
	Origins  int                `json:"origins"`
	Season   int                `json:"season"` // of the seasonal naive forecast, in rows
	Scores   methods            `json:"scores"`
	ByOutput map[string]methods `json:"by_output,omitempty"` // of several outputs
}

// methods are the scores of the forecasting methods.
type methods struct {
	VSSGP         series.Scores `json:"vssgp"`
	Naive         series.Scores `json:"naive"`
	SeasonalNaive series.Scores `json:"seasonal_naive"`
}

// oneResult is printed by fit, forecast, fill and backtest.
type oneResult struct {
	*result
	*answer
}

// manyResults are printed with --by.
type manyResults struct {
	Rows   int           `json:"rows"`
	Series []named       `json:"series"`
	Took   time.Duration `json:"seconds"`
	*answer
}

// An answer is about the whole command.
type answer struct {
	Columns  []string       `json:"columns,omitempty"` // of fill
	Device   string         `json:"device,omitempty"`
	Model    string         `json:"model,omitempty"` // the file that fit writes
	Ranks    *cli.RankTimes `json:"ranks,omitzero"`
	Forecast *frame         `json:"forecast,omitzero"` // without -o
}

// A named is the result of one of several series.
type named struct {
	Name string `json:"name"`
	*result
	Error string `json:"error,omitempty"` // why it failed
}

// A frame is a table that pandas.DataFrame(**frame) takes.
type frame struct {
	Columns []string `json:"columns"`
	Data    [][]any  `json:"data"`
}

// add adds rows of numbers, of which the first is along the axis, after the cells before.
func (f *frame) add(axis *table.Axis, rows []float64, before ...string) {
	for row := range slices.Chunk(rows, len(f.Columns)-len(before)) {
		var line []any
		for _, cell := range before {
			line = append(line, cell)
		}
		if axis.Dates() {
			line, row = append(line, axis.Format(row[0])), row[1:]
		}
		for _, v := range row {
			line = append(line, v)
		}
		f.Data = append(f.Data, line)
	}
}

// An evaluation is printed by evaluate.
type evaluation struct {
	Bound   float64 `json:"bound"`
	Rows    int     `json:"rows"` // with a value
	RMSE    float64 `json:"rmse"`
	Density float64 `json:"mean_log_predictive_density"`
	Device  string  `json:"device"`
}

// A description is printed by info.
type description struct {
	Model   string   `json:"model"`
	Inputs  []string `json:"inputs"`
	Units   []string `json:"units,omitempty"` // of dates
	Outputs []string `json:"outputs"`
	Rows    int      `json:"rows"`
	summary
	Hyper   []series.Value  `json:"hyper"`
	Effects []series.Effect `json:"effects,omitempty"`
	First   string          `json:"first"`
	Last    string          `json:"last"`
	Reach   string          `json:"reach"`
}
