package series_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/vssgp/vssgp/series"
)

// Predict returns the distribution of an observation at any time: between the data, or after
// them up to the end that Extent returns.
func ExampleModel_Predict() {
	s := monthly(60) // 60 months of a line with a yearly season
	m, err := series.Fit(context.Background(), s, quick)
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict(context.Background(), []float64{30.5, 66})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f and %.0f\n", p.Mean[0][0], p.Mean[0][1])
	upper := p.Quantile(0, 1, 0.975) // of output 0 at the second time
	fmt.Println("the 97.5 % quantile is the upper end of the interval:", math.Abs(upper-p.Upper[0][1]) < 0.01)
	fmt.Println("a likely value has the smaller CRPS:", p.CRPS(0, 1, 133) < p.CRPS(0, 1, 150))
	fmt.Println("and the larger density:", p.LogDensity(0, 1, 133) > p.LogDensity(0, 1, 150))

	first, last, end := m.Extent()
	fmt.Printf("data from %v to %v in steps of %v, predictions up to %v\n", first, last, m.Step(), end)
	_, err = m.Predict(context.Background(), []float64{end + 1})
	fmt.Println(errors.Is(err, series.ErrReach))
	// Output:
	// 113 and 133
	// the 97.5 % quantile is the upper end of the interval: true
	// a likely value has the smaller CRPS: true
	// and the larger density: true
	// data from 0 to 59 in steps of 1, predictions up to 649
	// true
}

// Forecast predicts the next steps of the data's grid.
func ExampleModel_Forecast() {
	s := monthly(60) // 60 months of a line with a yearly season
	m, err := series.Fit(context.Background(), s, quick)
	if err != nil {
		log.Fatal(err)
	}
	f, err := m.Forecast(context.Background(), 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("months", f.X, "are Next:", m.Next(3))
	for i := range f.X {
		fmt.Printf("%.0f to %.0f\n", f.Lower[0][i], f.Upper[0][i])
	}
	// Output:
	// months [60 61 62] are Next: [60 61 62]
	// 129 to 132
	// 135 to 138
	// 138 to 141
}

// Components splits a prediction into its parts, here at two months of the data.
func ExampleModel_Components() {
	s := monthly(60) // 60 months of a line with a yearly season
	m, err := series.Fit(context.Background(), s, quick)
	if err != nil {
		log.Fatal(err)
	}
	parts, err := m.Components(context.Background(), []float64{15, 21})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range parts {
		fmt.Printf("%s: %+d and %+d\n", p.Name, int(p.Mean[0][0]), int(p.Mean[0][1]))
	}
	// Output:
	// trend: +107 and +110
	// season 12: +9 and -10
	// short memory: +0 and +0
}

// The distribution of a total, a maximum or a first time follows from draws, because errors at
// different times are dependent. Here it is the total of the next year.
func ExampleModel_Draw() {
	s := monthly(60) // 60 months of a line with a yearly season
	m, err := series.Fit(context.Background(), s, quick)
	if err != nil {
		log.Fatal(err)
	}
	draws, err := m.Draw(context.Background(), m.Next(12), 500, 1)
	if err != nil {
		log.Fatal(err)
	}
	mean := 0.0
	for _, function := range draws {
		for _, v := range function[0] { // output 0
			mean += v / float64(len(draws))
		}
	}
	fmt.Printf("total of the next year: about %.0f0\n", mean/10)
	// Output: total of the next year: about 1590
}

// Fill predicts missing values, which are NaN.
func ExampleFill() {
	s := monthly(60) // 60 months of a line with a yearly season
	s.Y[0][10], s.Y[0][33] = math.NaN(), math.NaN()
	m, filling, err := series.Fill(context.Background(), s, quick)
	if err != nil {
		log.Fatal(err)
	}
	for i, row := range filling.Rows[0] {
		band := filling.Bands[0]
		fmt.Printf("row %d: %.0f, from %.0f to %.0f\n", row, filling.Y[0][row], band.Lower[i], band.Upper[i])
	}
	again, err := m.Fill(context.Background(), s) // without a fit
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same:", again.Y[0][10] == filling.Y[0][10], "of", m.Outputs(), "output")
	// Output:
	// row 10: 96, from 95 to 98
	// row 33: 107, from 105 to 108
	// the same: true of 1 output
}

// Backtest compares forecasts with the seasonal naive method, which repeats the values
// of the year before.
func ExampleBacktest() {
	b, err := series.Backtest(context.Background(), monthly(72), 6, 2, quick)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Origins, "forecasts of", b.Horizon, "months; season", b.Season)
	model, naive := series.MeanScores(b.Model), series.MeanScores(b.Seasonal) // of all outputs
	fmt.Println("better than naive:", model.MAE < naive.MAE, model.CRPS < naive.CRPS)
	// Output:
	// 2 forecasts of 6 months; season [12]
	// better than naive: true true
}

// Score compares predictions with other data, such as the months after a fit. Evaluate returns
// the log marginal likelihood.
func ExampleModel_Score() {
	s := monthly(72) // a line with a yearly season
	known := series.Series{X: s.X[:60], Y: [][]float64{s.Y[0][:60]}}
	m, err := series.Fit(context.Background(), known, quick)
	if err != nil {
		log.Fatal(err)
	}
	rmse, density, rows, err := m.Score(context.Background(), series.Series{X: s.X[60:], Y: [][]float64{s.Y[0][60:]}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d months, RMSE below 2: %t, log density above -3: %t\n", rows, rmse < 2, density > -3)
	bound, err := m.Evaluate(context.Background(), known)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the data of the fit have its bound:", math.Abs(bound-m.Bound()) < 1e-6*math.Abs(bound))
	// Output:
	// 12 months, RMSE below 2: true, log density above -3: true
	// the data of the fit have its bound: true
}

// Better returns a naive forecast that is better than the model on the last period, because the
// model lacks a season. Here the yearly season was left out.
func ExampleModel_Better() {
	o := quick
	o.Parts = []series.Part{series.Constant{}, series.Slope{}}
	m, err := series.Fit(context.Background(), monthly(72), o)
	if err != nil {
		log.Fatal(err)
	}
	naive, err := m.Better(context.Background(), 0)
	if err != nil {
		log.Fatal(err)
	}
	if naive != nil {
		fmt.Println("better by whole years:", math.Mod(naive.Period, 12) == 0, naive.MAE < naive.ModelMAE)
	}
	// Output: better by whole years: true true
}

// A saved model makes the same forecast.
func ExampleModel_Save() {
	s := monthly(60) // 60 months of a line with a yearly season
	m, err := series.Fit(context.Background(), s, quick)
	if err != nil {
		log.Fatal(err)
	}
	m.Notes = map[string]string{"source": "sales.csv"}
	dir, err := os.MkdirTemp("", "series")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sales.safetensors")
	if err := m.Save(path); err != nil {
		log.Fatal(err)
	}
	loaded, err := series.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	before, err := m.Forecast(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	after, err := loaded.Forecast(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded.Notes["source"], before.Mean[0][0] == after.Mean[0][0])
	// Output: sales.csv true
}

// A model can be written anywhere, such as into a database.
func ExampleModel_Write() {
	s := monthly(60) // 60 months of a line with a yearly season
	m, err := series.Fit(context.Background(), s, quick)
	if err != nil {
		log.Fatal(err)
	}
	m.XName, m.YNames = "month", []string{"sales"}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		log.Fatal(err)
	}
	same, err := series.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(same.YNames, "by", same.XName)

	_, err = series.Read(bytes.NewReader(nil), 0)
	fmt.Println(errors.Is(err, series.ErrFile))
	// Output:
	// [sales] by month
	// true
}
