// Package variational is the paper's model in the model's own units: its
// parameters with their one table of tensors, the effective features, the
// Kullback-Leibler terms, the exact and the factorized bound with their gradients,
// and predictions, joint covariances and draws (Gal & Turner 2015; derived in
// DESIGN.md in these letters).
//
// It knows rows that a backend holds (package backend) and block-tridiagonal
// matrices, and nothing of units, starts, optimizers or files.
package variational
