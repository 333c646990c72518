// Package rowspectrum computes the sums over rows of the exact bound and of its gradient from tables of Fourier sums of the
// rows. A table is made once for a data set; an evaluation then costs the same for any number of rows. It applies to one input
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
// W_g is a Gaussian around ω/h, so that 33 terms are enough for a feature that reaches over all the data. Waves that reach few
// rows are summed over these rows, and on even rows those that end before the data do have a closed form.
package rowspectrum
