package series

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/series"
)

// levels are the probabilities of the intervals of --level, in percent.
type levels []float64

// maxLevel is the maximum level. The probability of the upper bound of larger levels is 1 in float64.
const maxLevel = 99.9999999999999

// flag returns the flag's value.
func (l *levels) flag() *cli.Value {
	return &cli.Value{Kind: "percent", List: true, Parse: func(text string) error {
		for one := range strings.SplitSeq(text, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(one), 64)
			if err != nil || !(v >= 0 && v <= maxLevel) {
				return fmt.Errorf("must be percentages from 0 to less than 100 (at most %v), such as 80,95", maxLevel)
			}
			if slices.Contains(*l, v) {
				return fmt.Errorf("%v is given twice, which would give two columns of the same name", v)
			}
			*l = append(*l, v)
		}
		return nil
	}}
}

// quantiles are the probabilities of --quantiles.
type quantiles []float64

// minTail is the smallest probability of --quantiles and the smallest distance from 1, which --level has, too.
const minTail = (1 - maxLevel/100) / 2

// flag returns the flag's value.
func (q *quantiles) flag() *cli.Value {
	return &cli.Value{Kind: "probability", List: true, Parse: func(text string) error {
		for one := range strings.SplitSeq(text, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(one), 64)
			if err != nil || !(v >= minTail && 1-v >= minTail) {
				return fmt.Errorf("must be probabilities between 0 and 1 (at least %.0e from both), such as 0.1,0.5,0.9", minTail)
			}
			if slices.Contains(*q, v) {
				return fmt.Errorf("%v is given twice, which would give two columns of the same name", v)
			}
			*q = append(*q, v)
		}
		return nil
	}}
}

// A Form is the format of predictions: additional intervals (--level), quantiles (--quantiles) and rounding (--digits).
type Form struct {
	levels    levels
	quantiles quantiles
	digits    int // 0: all
}

// Add defines the flags.
func (o *Form) Add(f *pflag.FlagSet) {
	o.digits = 3
	f.Var(o.levels.flag(), "level", "add prediction intervals with these `percentages`, such as 80,99")
	f.Var(o.quantiles.flag(), "quantiles", "add quantiles with these `probs`, such as 0.1,0.5,0.9")
	f.Var(cli.Count(&o.digits, 17), "digits", "`digits` of the standard deviation to write; 0: all")
}

// warn prints a warning for a level below 1, which was probably meant as a fraction.
func (l levels) warn(env *cli.Env) {
	for _, v := range l {
		if v > 0 && v < 1 {
			env.Warn("level", "--level %v means %v percent; use --level %v for that fraction", v, v, 100*v)
		}
	}
}

// columns returns the column names of the further interval bounds and the quantiles, after a prefix.
func (o *Form) columns(prefix string) (names []string) {
	for _, v := range o.levels {
		level := strconv.FormatFloat(v, 'g', -1, 64)
		names = append(names, prefix+"lower_"+level, prefix+"upper_"+level)
	}
	for _, v := range o.quantiles {
		names = append(names, prefix+"q"+strconv.FormatFloat(v, 'f', -1, 64))
	}
	return names
}

// A prediction contains rows of numbers for each output: mean, sd, the bounds of the 95 % interval, and those that Form.columns names.
type prediction struct {
	x       []float64
	width   int         // numbers in a row
	values  [][]float64 // [D][N·width]
	medians []int       // [D], number of rows of a log-normal prediction with the median in place of the mean
	below   []bool      // [D], whether an interval begins below 0 although no value is negative; nil: unknown
}

// row returns the numbers of a row of output d.
func (p *prediction) row(d, n int) []float64 { return p.values[d][n*p.width : (n+1)*p.width] }

// predictedAtOnce is the number of rows predicted together. It bounds memory: a row needs a Gaussian for each draw.
var predictedAtOnce = 1 << 16

// predictParts predicts at x with regressors z in blocks of predictedAtOnce rows. Unless show is nil, it calls it with the completed share.
func predictParts(
	ctx context.Context, m *series.Model, x []float64, z [][]float64, form *Form, show func(share float64),
) (*prediction, error) {
	d := m.Outputs()
	// If the scale is not clear, few draws have the tail. Their mean is of no use to anyone, and the median needs no note.
	logNormal := m.LogProbability() == 1
	all := &prediction{x: x, width: 4 + len(form.columns("")), values: make([][]float64, d), medians: make([]int, d)}
	for lo := 0; lo < len(x); lo += predictedAtOnce {
		hi := min(len(x), lo+predictedAtOnce)
		if show != nil {
			show(float64(lo) / float64(len(x)))
		}
		part, values := x[lo:hi], make([][]float64, len(z))
		for j := range z {
			values[j] = z[j][lo:hi]
		}
		p, err := m.Predict(ctx, part, values...)
		if err != nil {
			return nil, err
		}
		for i, values := range all.values {
			for n := range part {
				values = append(values, p.Mean[i][n], p.SD[i][n], p.Lower[i][n], p.Upper[i][n])
				for _, level := range form.levels {
					tail := (1 - level/100) / 2
					values = append(values, p.Quantile(i, n, tail), p.Quantile(i, n, 1-tail))
				}
				for _, probability := range form.quantiles {
					values = append(values, p.Quantile(i, n, probability))
				}
				if logNormal && p.Median[i][n] {
					all.medians[i]++
				}
			}
			all.values[i] = values
		}
	}
	return all, nil
}

// predictedNames returns the column names of predictedRows without draws.
func (o *Form) predictedNames(input string, outputs []string, ends bool) []string {
	names := []string{input}
	for _, y := range outputs {
		names = append(append(names, datafile.PredictedNames(nil, []string{y}, ends)...), o.columns(y+"_")...)
	}
	return names
}

// predictedRows returns the rows of a table: the input, then mean, sd, interval bounds and quantiles of each output, then draws.
func (o *Form) predictedRows(m *series.Model, p *prediction, draws [][][]float64, ends bool) (rows []float64) {
	decimals := decimalsOf(m)
	for n, x := range p.x {
		rows = append(rows, x)
		for d := range p.values {
			row := p.row(d, n)
			for i, v := range row {
				if ends || i < 2 || i >= 4 {
					rows = append(rows, o.rounded(m, v, row[1], decimals[d]))
				}
			}
		}
		for _, f := range draws {
			for d := range f {
				rows = append(rows, f[d][n])
			}
		}
	}
	return rows
}

// decimalsFor returns the number of decimals that show the given digits of a standard deviation, at least the decimals of the column.
func decimalsFor(sd float64, column, digits int) int {
	if !(sd > 0) || math.IsInf(sd, 0) {
		return 400 // all
	}
	return max(column, digits-1-int(math.Floor(math.Log10(sd))))
}

// rounded rounds a value of a prediction for output.
func (o *Form) rounded(m *series.Model, v, sd float64, column int) float64 {
	if o.digits == 0 {
		return v
	}
	if m.Log() { // a bound near 0 can be far below the standard deviation
		sd = min(sd, math.Abs(v))
	}
	return rounded(v, decimalsFor(sd, column, o.digits))
}

// rounded rounds to a number of decimals, if a float64 can represent them.
func rounded(v float64, decimals int) float64 {
	const exact = 22 // the largest exponent of a power of ten that a float64 represents exactly
	if decimals > exact {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals, 64), 64)
	} else if unit := math.Pow10(decimals); math.Abs(v)*unit < 1<<52 {
		v = math.Round(v*unit) / unit
	}
	return v + 0 // no -0
}

// decimalsNote is the key of the model file's note with the decimals of each output's column as JSON.
const decimalsNote = "decimals"

// decimalsOf returns the decimals of each output's column, 0 if the model has no such note.
func decimalsOf(m *series.Model) []int {
	all := make([]int, m.Outputs())
	var noted []int
	if json.Unmarshal([]byte(m.Notes[decimalsNote]), &noted) == nil && len(noted) == len(all) {
		copy(all, noted)
	}
	return all
}
