package series

import (
	"slices"
	"time"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// The objects that --json prints. docs/json.md describes them.

// A result is the result of a command for one series.
type result struct {
	Rows    int           `json:"rows"`
	Horizon int           `json:"horizon,omitzero"` // of forecast and backtest, in rows
	Filled  *int          `json:"filled,omitzero"`  // of fill, in cells
	Summary *summary      `json:",embed"`           // nil if nothing was fitted
	Scores  *scores       `json:",embed"`           // of backtest
	Took    time.Duration `json:"seconds,omitzero"`
}

// A summary describes a fitted model.
type summary struct {
	Periods  []float64           `json:"periods"`
	Parts    []string            `json:"parts"`
	Log      bool                `json:"log,omitzero"`
	LogShare float64             `json:"log_probability,omitzero"` // 0 if the scale is clear
	NoiseSD  []float64           `json:"noise_sd,omitzero"`        // by output; nil for counts
	Bound    float64             `json:"bound"`
	Features int                 `json:"features"`
	Outliers map[string][]string `json:"outliers,omitempty"` // inputs of the outliers by output
}

// scores are the results of a backtest.
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

// oneResult is the output of fit, forecast, fill and backtest.
type oneResult struct {
	*result
	*answer
}

// manyResults is their output with --by.
type manyResults struct {
	Rows   int           `json:"rows"`
	Series []named       `json:"series"`
	Took   time.Duration `json:"seconds"`
	*answer
}

// An answer is the part of the output that describes the whole command.
type answer struct {
	Columns  []string       `json:"columns,omitempty"` // of fill
	Device   string         `json:"device,omitempty"`
	Model    string         `json:"model,omitempty"` // path of the file written by fit
	Ranks    *cli.RankTimes `json:"ranks,omitzero"`
	Forecast *frame         `json:"forecast,omitzero"` // without -o
}

// A named is the result of one of several series, with its name.
type named struct {
	Name string `json:"name"`
	*result
	Error string `json:"error,omitempty"` // why it failed
}

// A frame is a table in the format of pandas.DataFrame(**frame).
type frame struct {
	Columns []string `json:"columns"`
	Data    [][]any  `json:"data"`
}

// add appends rows of numbers, each after the cells before. The first number of a row is on the axis.
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

// A description is the output of info.
type description struct {
	cli.ModelFile
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
