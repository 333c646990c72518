// Package backend defines the types that the model and its backends share:
// damped-cosine features, the windows that gate them, the sums over the rows
// that the bounds need, and the contract that a backend fulfills.
//
// It knows nothing of Gaussian processes. A feature k is a damped cosine with
// center z_k, decay P_k, angular frequency ω_k, phase c_k and amplitudes:
//
//	d         = x − z_k
//	q         = ½ Σ_q P_kq d_q²                θ = Σ_q ω_kq d_q + c_k
//	E[φ_k(x)]  = g(x)  · A1_k · exp(−q) · cos θ                      (eq. exp_Phi)
//	E[φ_k(x)²] = g(x)² · (A0_k + A2_k · exp(−4q) · cos 2θ)           (eq. exp_PhiT_Phi)
//
// where g is the gate of the window that the feature belongs to (g ≡ 1 without
// windows). Letters: N rows, Q inputs, D outputs, M features, V windows;
// n, q, d, k, v their indices. Every matrix is row-major.
package backend
