package simd

import "fmt"

// Fit adds Σ_p w[p]·cos[p] over the panels p to acc [n,8], per lane; w is [Count,8]. The sum over
// the lanes (SumLanes) is Σ_k w_k·cos_nk.
func Fit(acc []float64, cos Panels, w []float64) {
	cos.check("Fit")
	checkFit("Fit", acc, cos, w)
	if cos.empty() {
		return
	}
	if !fitVector(cos.row(0, 0), &acc[0], &w[0], cos.Stride, cos.N, cos.Count) {
		for i := range cos.Count {
			fitPlain(acc, cos.Panel(i), w[i*Lanes:][:Lanes])
		}
	}
}

// fitPlain is Fit's plain loop.
func fitPlain(acc, cos, w []float64) {
	for n := 0; n < len(acc); n += Lanes {
		for l, v := range w {
			acc[n+l] += v * cos[n+l]
		}
	}
}

// checkFit panics if acc or w do not match the panels.
func checkFit(what string, acc []float64, cos Panels, w []float64) {
	if len(acc) != cos.N*Lanes || len(w) != cos.Count*Lanes {
		panic(fmt.Sprintf("simd: %s: %d numbers and %d weights for %d panels of %d rows", what, len(acc), len(w), cos.Count,
			cos.N))
	}
}

// SumLanes sets sum to the sum of each row's lanes, by adding the halves until one number is left.
func SumLanes(sum, acc []float64) {
	for n := range sum {
		a := (*[Lanes]float64)(acc[n*Lanes:])
		sum[n] = (a[0] + a[4] + (a[2] + a[6])) + (a[1] + a[5] + (a[3] + a[7]))
	}
}

// Along adds Σ_n y_n·cos_n to each panel's sums [Count,8], where y_n is y[n·d], one of d outputs.
func Along(sums []float64, cos Panels, y []float64, d int) {
	cos.check("Along")
	checkSums("Along", sums, cos.Count)
	checkOutputs("Along", y, d, cos.N)
	if cos.empty() {
		return
	}
	if !alongVector(&sums[0], cos.row(0, 0), &y[0], d, cos.Stride, cos.N, cos.Count) {
		for i := range cos.Count {
			alongPlain(sums[i*Lanes:], cos.Panel(i), y, d)
		}
	}
}

// alongPlain is Along's plain loop.
func alongPlain(sums, cos, y []float64, d int) {
	for n := range len(cos) / Lanes {
		for l := range Lanes {
			sums[l] += y[n*d] * cos[n*Lanes+l]
		}
	}
}

// AddOutput adds y_n·w[p] to row n of each panel p, where y_n is y[n·d], one of d outputs; w is
// [Count,8].
func AddOutput(bar Panels, y []float64, d int, w []float64) {
	bar.check("AddOutput")
	checkOutputs("AddOutput", y, d, bar.N)
	checkSums("AddOutput", w, bar.Count)
	if bar.empty() {
		return
	}
	if !outputVector(bar.row(0, 0), &y[0], &w[0], d, bar.Stride, bar.N, bar.Count) {
		for i := range bar.Count {
			outputPlain(bar.Panel(i), y, d, w[i*Lanes:][:Lanes])
		}
	}
}

// outputPlain is AddOutput's plain loop.
func outputPlain(bar, y []float64, d int, w []float64) {
	for n := range len(bar) / Lanes {
		for l, v := range w {
			bar[n*Lanes+l] += y[n*d] * v
		}
	}
}

// checkOutputs panics unless y has n rows of d outputs, beginning at one of the outputs.
func checkOutputs(what string, y []float64, d, n int) {
	if d < 1 || n > 0 && len(y) < (n-1)*d+1 {
		panic(fmt.Sprintf("simd: %s: %d numbers of %d outputs in %d rows", what, len(y), d, n))
	}
}

// checkSums panics unless sums have the given number of rows.
func checkSums(what string, sums []float64, rows int) {
	if len(sums) != rows*Lanes {
		panic(fmt.Sprintf("simd: %s: %d sums, must be %d", what, len(sums), rows*Lanes))
	}
}
