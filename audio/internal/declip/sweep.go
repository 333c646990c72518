package declip

import "math"

// sweep makes the Gaussian posterior of the missing samples from their precision and the sites, and with it each sample's own
// distribution, in which its site gives way to its limit. The site moves by a share towards what gives the sample the same mean and
// variance (expectation propagation, all sites at a time). It is false where the precision is not positive definite in float64; then
// nothing has changed.
func (s *section) sweep(share float64) bool {
	for jitter := 0.0; ; jitter = max(1e-12, 100*jitter) {
		s.assemble()
		for i := range s.sites {
			c, row := &s.sites[i], s.precision.rows[i]
			row[len(row)-1] = row[len(row)-1]*(1+jitter) + c.precision + c.weak
			s.right[i] += c.product + c.weak*c.side*c.limit
		}
		if s.precision.factor() {
			break
		}
		if jitter > 1e-6 {
			return false
		}
	}
	s.precision.solve(s.right)
	s.precision.invert()
	s.swept = true
	for i, m := range s.right {
		at := s.at[i]
		was := s.mean[at]
		s.mean[at] = s.sites[i].settle(m, s.precision.covariance(i, i), share)
		s.sites[i].moved = math.Abs(s.mean[at]-was) / s.sites[i].sd
	}
	return true
}

// settle takes the posterior's mean m and variance v of the sample, and returns the mean with its limit in the site's place. Without
// the site the sample has the precision 1/v − precision; beyond its limit it is a truncated Gaussian, whose variance is the smaller
// one, so the site's precision stays positive.
func (c *site) settle(m, v, share float64) float64 {
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
	toward := max(0, precision*(1/variance-1))
	c.precision += share * (toward - c.precision)
	c.product += share * (mean*(precision+toward) - center*precision - c.product)
	return mean
}
