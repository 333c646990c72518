// Package backend defines the interface between the model and its backends: damped-cosine
// features, the windows that gate them, and the sums over the rows that the bounds need.
//
//	the model on the host                             Rows on a device
//
//	N rows of data            ──── Backend.Open ───>  kept there
//	M features                ──── Moments ────────>  a pass over the rows
//	C [M,D], G [M,M]          <─────────────────────  sums
//	∂bound/∂C, ∂bound/∂G      ──── Pullback ───────>  a pass over the rows
//	∂bound/∂features          <─────────────────────  sums
//
// A program chooses a backend and closes it:
//
//	b := cpu.New() // or gpu.Open, ranks.New
//	defer b.Close()
//	model, result, err := vssgp.Fit(ctx, data, vssgp.Options{Backend: b})
//
// The package does not depend on the Gaussian process. Feature k is a damped cosine with center z_k,
// decay P_k, angular frequency ω_k, phase c_k and amplitudes A1_k, A0_k and A2_k:
//
//	d         = x − z_k
//	q         = ½ Σ_q P_kq d_q²                θ = Σ_q ω_kq d_q + c_k
//	E[φ_k(x)]  = g(x)  · A1_k · exp(−q) · cos θ                      (eq. exp_Phi)
//	E[φ_k(x)²] = g(x)² · (A0_k + A2_k · exp(−4q) · cos 2θ)           (eq. exp_PhiT_Phi)
//
// where g is the gate of the feature's window (g ≡ 1 without windows). Notation: N rows,
// Q inputs, D outputs, M features and V windows, with indices n, q, d, k and v. Every matrix
// is row-major.
//
// Data.Check and the methods that begin with Check accept any argument, and so do the methods of a
// backend.Rows that call them. All other functions and methods are for arguments that have passed
// these checks, because they are called for each row or feature; they panic on nil pointers, negative
// numbers and arrays of other lengths.
package backend
