package detect

import "context"

func init() { detectors[Zeros] = zeros }

// zeros finds the dropouts that are exact zeros.
func zeros(ctx context.Context, r recording, o *Options) ([]Found, error) {
	s, err := newStops(r, o)
	if err != nil {
		return nil, err
	}
	s.zeros = true
	return s.find(ctx, Zeros)
}
