package clicks

// NewNoise returns a Search for clicks in noise that contains no music, such as the difference of the channels of a mono disc. Find returns
// only candidates that are reported at the sensitivity; Choose is not needed, because clicks nearby say nothing about a click in noise.
func NewNoise(rate int, step, sensitivity float64) *Search {
	return &Search{Rate: rate, Step: step, Weights: &noiseWeights, Least: -thresholdStep * (sensitivity - 5)}
}

// noiseWeights contains the log-odds of a click in noise.
var noiseWeights = func() (w Weights) {
	const limit = 20 // of all features, so that none is clipped
	for i := range w.Low {
		w.Low[i], w.High[i] = -limit, limit
	}
	first := func(feature int) int { // index of the feature's term; its products with the features up to itself follow
		at := 1
		for i := range feature {
			at += i + 2
		}
		return at
	}
	w.Of[0] = noiseConstant
	w.Of[first(fEnergy)] = limit * noiseEnergy
	w.Of[first(fLength)] = limit * noiseLength
	w.Of[first(fLength)+1+fLength] = limit * limit * noiseLength2
	w.Of[first(fLeft)] = limit * noiseLeft
	w.Of[first(fHeavy)] = limit * noiseHeavy
	return w
}()

// Coefficients of the log-odds of a click in noise, fitted by logistic regression to candidates in the differences of synthetic mono discs.
const (
	noiseConstant = -12.6
	noiseEnergy   = 4.2  // of log T/σ²
	noiseLength   = 0.9  // of log L
	noiseLength2  = -0.8 // of log² L
	noiseLeft     = -2.9
	noiseHeavy    = -3.9
)
