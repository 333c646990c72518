// Package rowspectrum computes the sums over rows of the exact bound and of its gradient from tables of Fourier sums of the
// rows. The tables are computed once per data set, and the cost of an evaluation does not depend on the number of rows. It supports one input
// without windows, on even and uneven rows.
//
// With X = x − x_c in units of the step, the mean of a feature is the real part of A1·ψ,
//
//	ψ(X) = exp(−½P(X − Z)² + i(ωX + φ))
//
// and products of two of them, ψ_jψ_k and ψ_jψ_k*, have the same form (wave). G, C and their derivatives are sums
//
//	S_r = Σ_n v_n (X_n − a)^r ψ(X_n)      r = 0, 1, 2,  v = 1 or y_d
//
// On the grid of frequencies θ_g = gh, h = 2π/T, with a period T of twice the range of the rows or more (DESIGN.md, section 18),
//
//	E_g = Σ_n v_n exp(½P₀X_n²) exp(iθ_gX_n)      S_0 = Σ_g E_g·W_g      Q = P + P₀
//	W_g = √(2π/Q)/T · exp((PZ + iω − iθ_g)²/(2Q) − ½PZ² + iφ)
//
// W_g is a Gaussian around ω/h, so 33 terms suffice for a feature that extends over all the data. Waves with few rows within reach
// are summed over these rows, and on even rows waves that decay within the data have a closed form.
package rowspectrum
