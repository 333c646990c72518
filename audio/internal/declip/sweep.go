package declip

import "math"

// sweep performs one iteration of expectation propagation. It computes the Gaussian posterior of the missing samples from their precision
// and the sites, then the moments of each sample with its limit instead of its site, and updates all sites to match these moments. The
// last sweep keeps the sites and stores the factor of the precision. sweep returns false and changes nothing if the precision is not
// positive definite in float64.
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

// settle returns the mean of a sample with its limit instead of its site, given its posterior mean m and variance v. Without the site,
// the precision is 1/v − precision, and the limit truncates this Gaussian. Truncation reduces the variance, so the precision of the site
// is never negative. If update is true, settle updates the site.
func (c *site) settle(m, v float64, update bool) float64 {
	c.sd = math.Sqrt(max(v, 0))
	if c.side == 0 {
		return m
	}
	precision := 1/v - c.precision
	if !(precision*v > 1e-9) { // cancellation: clip the posterior mean at the limit
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
