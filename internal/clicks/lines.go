package clicks

// Knots of a Line.
const Knots = 6

// Weights are a constant and a broken line of each feature, whose sum are the log-odds.
type Weights struct {
	Constant float64
	Lines    [Features]Line
}

// A Line is a function of a feature: 0 up to its first knot, then of a slope between each knot and the next, and level beyond the last.
type Line struct {
	Feature string
	Knots   [Knots]float64
	Slopes  [Knots - 1]float64
}

// Fitted returns a copy of the weights of New.
func Fitted() *Weights {
	w := fitted
	return &w
}

// LogOdds returns the log-odds of a click.
func (w *Weights) LogOdds(f *[Features]float64) float64 {
	sum := w.Constant
	for i := range w.Lines {
		for k, part := range w.Lines[i].Parts(f[i]) {
			sum += part * w.Lines[i].Slopes[k]
		}
	}
	return sum
}

// Parts returns how much of each piece lies below a value of the feature.
func (l *Line) Parts(v float64) (parts [Knots - 1]float64) {
	for k := range parts {
		parts[k] = min(max(v, l.Knots[k]), l.Knots[k+1]) - l.Knots[k]
	}
	return parts
}
