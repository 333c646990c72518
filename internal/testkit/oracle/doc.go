// Package oracle computes the variational sparse spectrum Gaussian process slowly and directly
// from the paper's equations, as the reference for tests. Each sum is one loop, and the package
// imports no other package of this module.
//
// Notation: N rows, Q input dimensions, D outputs, L components, K features per component, M =
// L·K features; n, q, d, i, k are their indices. Feature k belongs to component k/K.
//
// There are two levels: the model ([Params]) with features, bounds, predictions and evidence,
// and [LoadGolden] for results of an independent implementation; and the damped cosines of a
// backend ([Damped]) with their moments, their adjoint, the factorized sums and predictions.
//
// Shapes are not checked: a wrong shape panics with an index out of range.
package oracle
