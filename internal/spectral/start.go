package spectral

import "math"

const (
	maxLines     = 16  // of the path of lines
	maxFailures  = 4   // successive lines that may fail to gain, because lines can need each other
	leadNats     = 50  // lead of the lines beyond which a broad spectrum with leadPairs nodes or more is not tried
	leadPairs    = 100 // also the largest number of nodes of an rbf that gets lines
	initialNoise = 0.3 // of a model with one broad component, in units of y
)

// start returns the best of these models: From, a sum of lines, a single broad component, both together, and a single oscillation. Both
// together begin with the lines or, because slow lines can take the place of a smooth trend, with the broad component.
func (s *Search) start() (best Candidate, err error) {
	given := failed(Model{})
	if s.From != nil {
		if err := s.try(&given, *s.From, jointIterations); err != nil {
			return given, err
		}
	}
	none, err := s.optimize(Model{Noise: s.domain.Unit}, lineIterations, nil)
	if err != nil {
		return none, err
	}
	best, err = s.lines(none)
	if err != nil {
		return best, err
	}
	s.keep(best)
	smooth, broad, err := s.broad(best.Score)
	if err != nil {
		return best, err
	}
	path, err := s.linesAfter(none, smooth)
	if err != nil {
		return best, err
	}
	both := best
	if path.Score > both.Score {
		both = path
	}
	if both, err = s.with(both, broad); err != nil {
		return best, err
	}
	one, err := s.oscillation(none)
	if err != nil {
		return best, err
	}
	for _, c := range []Candidate{given, broad, path, both, one} {
		if c.Score > max(best.Score, none.Score+minGain) {
			best = c
		}
	}
	s.report(best)
	return best, nil
}

// oscillation returns the best model with one component at the highest peak of the periodogram.
func (s *Search) oscillation(none Candidate) (best Candidate, err error) {
	best.Score = math.Inf(-1)
	d := s.domain
	r, err := s.residual(d.expand(none.Model), 1)
	if err != nil || len(r.peaks) == 0 {
		return best, err
	}
	p := r.peaks[0].frequency
	for _, c := range []Component{
		made(Damped, initialSD*d.Unit, p, max(dampedCycles/p, 2*d.Spacing)),
		made(Band, initialSD*d.Unit, p, max(bandLengths[1]*d.span(), 3*d.shortest(Band))),
	} {
		m := Model{Components: []Component{c}, Noise: initialNoise * d.Unit}
		if err := s.try(&best, m, broadIterations); err != nil {
			return best, err
		}
	}
	return best, nil
}

// with returns the best sum of lines and a broad component, which has fewer nodes if it need not explain the lines.
func (s *Search) with(lines, broad Candidate) (best Candidate, err error) {
	best.Score = math.Inf(-1)
	if len(lines.Components) == 0 || len(broad.Components) == 0 {
		return best, nil
	}
	var tried []Component
	if lines.Components[0].Kind == Line {
		tried = append(tried, broad.Components[0])
	}
	for _, l := range rbfLengths {
		tried = append(tried, Component{Kind: RBF, SD: initialSD * lines.Noise, Length: l * s.domain.span()})
	}
	for _, c := range tried {
		if !(c.Length > 1.5*s.domain.shortest(c.Kind)) || len(s.domain.nodes(c).Node) > leadPairs {
			continue
		}
		m := Model{Components: add(lines.Components, c), Noise: lines.Noise}
		if err := s.try(&best, m, changeIterations); err != nil {
			return best, err
		}
	}
	return best, nil
}

// linesAfter returns a smooth component with lines, if it has few nodes and is better than none.
func (s *Search) linesAfter(none, smooth Candidate) (best Candidate, err error) {
	best.Score = math.Inf(-1)
	if !(smooth.Score > none.Score+minGain) || smooth.pairs > leadPairs {
		return best, nil
	}
	if best, err = s.lines(smooth); err == nil && len(best.Components) > 1 {
		s.keep(best)
	}
	return best, err
}

// lines adds lines at the highest peak of the residual's periodogram, one at a time.
func (s *Search) lines(none Candidate) (best Candidate, err error) {
	best, now := none, none
	for failures := 0; len(now.Components) < maxLines && failures < maxFailures; {
		r, err := s.residual(s.domain.expand(now.Model), 1)
		if err != nil {
			return best, err
		}
		if len(r.peaks) == 0 || r.peaks[0].gain < peakLeast {
			break
		}
		next := now.Model
		next.Components = add(now.Components, s.domain.line(r.peaks[0], now.Noise))
		if now, err = s.optimize(next, lineIterations, nil); err != nil {
			return best, err
		}
		if now.Score > best.Score+minGain {
			best, failures = now, 0
		} else {
			failures++
		}
	}
	return best, nil
}

// broad returns the best models with one rbf and with one broad component. Shorter lengths are tried while they lead to another model, and
// rougher kinds while these are better. lead is the score of the lines.
func (s *Search) broad(lead float64) (smooth, best Candidate, err error) {
	best.Score = math.Inf(-1)
	d := s.domain
	try := func(kind Kind, length float64) (better bool, err error) {
		m := d.initial(kind, length)
		hopeless := lead > best.Score+leadNats && (kind.Rough() || d.expand(m).pairs() > leadPairs)
		if !(length > 1.5*d.shortest(kind)) || hopeless {
			return false, nil
		}
		c, err := s.optimize(m, broadIterations, nil)
		if err != nil {
			return false, err
		}
		s.keep(c)
		first := len(best.Components) == 0
		better = c.Score > best.Score+minGain
		if better {
			best = c
		}
		return better && !first, nil
	}
	for i, l := range rbfLengths {
		if better, err := try(RBF, l*d.span()); err != nil || i > 0 && !better {
			if err != nil {
				return smooth, best, err
			}
			break
		}
	}
	smooth = best
	for _, to := range []struct {
		kind  Kind
		ratio float64
	}{{M32, rougher[M32]}, {OU, rougher[OU]}} {
		if len(best.Components) == 0 {
			break
		}
		if better, err := try(to.kind, to.ratio*best.Components[0].Length); err != nil || !better {
			return smooth, best, err
		}
	}
	return smooth, best, nil
}

// initial returns a model with one broad component before its optimization.
func (d *Domain) initial(kind Kind, length float64) Model {
	c := Component{Kind: kind, SD: initialSD * d.Unit, Length: length}
	return Model{Components: []Component{c}, Noise: initialNoise * d.Unit}
}
