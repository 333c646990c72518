// Package vssgp fits variational sparse spectrum Gaussian processes
// (Gal & Turner 2015, "Improving the Gaussian Process Sparse Spectrum
// Approximation by Representing Uncertainty in Frequency Inputs").
//
// The covariance is a sum of L spectral-mixture components,
//
//	k(x, x') = Σ_i σ²_i exp(−½ Σ_q (x_q−x'_q)²/l_iq²) cos(2π Σ_q p_iq (x_q−x'_q)),
//
// each approximated by K random Fourier features whose frequencies and phases
// have a variational posterior; M = L·K features in all. Windows make the sum
// local along one input, so that the exact bound costs O(N) (see
// spectral.Windows).
//
// Letters: N rows of data, Q inputs, D outputs, L components, K features each,
// M = L·K, V windows. Matrices are row-major; component of feature k is k/K.
//
// The usual way in:
//
//	data, err := vssgp.NewData(x, y)                          // [N,Q], [N,D]
//	model, result, err := vssgp.Fit(ctx, data, vssgp.Options{})
//	p, err := model.Predict(xNew)                             // p.Mean, p.Variance()
//	err = model.Save("model.safetensors")
package vssgp
