package series_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/vssgp/vssgp/series"
)

// Ten years of monthly data with a trend and a season, and a forecast for the next quarter.
func Example() {
	var x, y []float64
	for i := range 120 {
		t := float64(i)
		x = append(x, t)
		y = append(y, 100+0.5*t+10*math.Sin(2*math.Pi*t/12)+math.Cos(7*t*t))
	}
	m, err := series.Fit(context.Background(), series.Series{X: x, Y: [][]float64{y}}, series.Options{})
	if err != nil {
		log.Fatal(err)
	}
	f, err := m.Forecast(context.Background(), 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("seasons:", m.Periods())
	for i, mean := range f.Mean[0] {
		fmt.Printf("month %v: %.0f, from %.0f to %.0f\n", f.X[i], mean, f.Lower[0][i], f.Upper[0][i])
	}
	// Output:
	// seasons: [12]
	// month 120: 159, from 158 to 161
	// month 121: 165, from 163 to 167
	// month 122: 169, from 167 to 171
}
