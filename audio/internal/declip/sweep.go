package declip

import "math"

// sweep computes the Gaussian posterior of the missing samples from their precision and the sites, and each sample's own distribution, in
// which its limit replaces its site. All sites then become what gives the samples the same means and variances (expectation propagation).
// If it is the last sweep, the sites stay as they are and the precision's factor is kept. It is false if the precision is not positive
// definite in float64; then nothing has changed.
func (s *section) sweep(last bool) bool {
	extra := make([]float64, len(s.at))
	for i, c := range s.sites {
		extra[i] = c.precision + c.weak
	}
	factor, err := s.precision.Factorize(extra)
	if err != nil {
		return false
	}
	for i, c := range s.sites {
		s.posterior[i] = s.pull[i] + c.product + c.weak*c.side*c.limit
	}
	factor.Solve(s.posterior, 1)
	if last {
		s.factor = factor.Clone()
	}
	s.covariance = s.precision.Like(factor.Inverse())
	for i, m := range s.posterior {
		at := s.at[i]
		was := s.mean[at]
		s.mean[at] = s.sites[i].settle(m, s.covariance.Diagonal(i), !last)
		s.sites[i].moved = math.Abs(s.mean[at]-was) / s.sites[i].sd
	}
	return true
}

// settle takes the posterior's mean m and variance v of the sample, and returns the mean with its limit in place of the site. Without
// the site the sample has the precision 1/v − precision; beyond its limit it is a truncated Gaussian, whose variance is the smaller
// one, so the site's precision stays positive. The site is replaced if update is true.
func (c *site) settle(m, v float64, update bool) float64 {
	c.sd = math.Sqrt(max(v, 0))
	if c.side == 0 {
		return m
	}
	precision := 1/v - c.precision
	if !(precision*v > 1e-9) { // all digits are lost: the posterior itself, at the limit or beyond
		c.against = math.Inf(1)
		return c.side * max(c.side*m, c.limit)
	}
	center, sd := (m/v-c.product)/precision, 1/math.Sqrt(precision)
	c.against = (c.limit - c.side*center) / sd
	excess, variance := above(c.against)
	c.sd = sd * math.Sqrt(variance)
	mean := c.side * (c.limit + sd*excess)
	if update {
		c.precision = max(0, precision*(1/variance-1))
		c.product = mean*(precision+c.precision) - center*precision
	}
	return mean
}
