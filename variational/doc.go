// Package variational implements the paper's model in the model's units: the parameters
// and their tensors, the effective features, the Kullback-Leibler terms, the exact and the
// factorized bound with their gradients, predictions, joint covariances and draws (Gal &
// Turner 2015; DESIGN.md derives the formulas with the same notation).
//
// It uses package backend and block-tridiagonal matrices. Units, initialization,
// optimization and files are in other packages.
package variational
