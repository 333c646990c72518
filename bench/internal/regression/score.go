package regression

import (
	"errors"
	"math"

	"github.com/vssgp/vssgp/internal/bayes"
)

// Scores are the scores of predictions at a place.
type Scores struct {
	N        int     `json:"n"` // points
	RMSE     float64 `json:"rmse"`
	NLPD     float64 `json:"nlpd"` // mean negative log density of independent Gaussians
	Coverage float64 `json:"coverage95"`
}

// minSD is the minimum standard deviation that is scored. bench/peers/regression.py has the same.
const minSD = 1e-9

// score scores predictions of y. It returns an error if a prediction is not finite.
func score(mean, sd, y []float64) (s Scores, err error) {
	limited := make([]float64, len(sd))
	for i := range sd {
		if math.IsNaN(mean[i]-sd[i]) || math.IsInf(mean[i], 0) || math.IsInf(sd[i], 0) {
			return s, errors.New("a prediction is not finite")
		}
		limited[i] = max(sd[i], minSD)
	}
	return Scores{len(y), bayes.RMSE(mean, y), bayes.NLPD(mean, limited, y), bayes.Coverage(mean, limited, y)}, nil
}
