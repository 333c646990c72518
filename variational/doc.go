// Package variational is covered by the compatibility promise only in the types that package
// vssgp exposes: Params, Tensor, Evaluation, Term, Inference and Method. Its other names serve
// packages of this module and may change in any release.
//
// It implements the paper's model in the model's units: the parameters and their tensors, the
// effective features, the Kullback-Leibler terms, the exact and the factorized bound with their
// gradients, predictions, joint covariances and draws (Gal & Turner 2015; DESIGN.md derives the
// formulas with the same notation).
//
// It uses package backend and block-tridiagonal matrices. Units, initialization,
// optimization and files are in other packages.
//
// NewParams and the methods M, Clone, Check, Tensors and Features of Params accept any argument. All
// other functions and methods are for valid parameters (Params.Check), a Setting with a backend, and
// data and shapes that match them; they return an error or panic on others.
package variational
