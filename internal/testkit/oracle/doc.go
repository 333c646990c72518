// Package oracle is the slow, obvious float64 truth of the variational sparse
// spectrum Gaussian process, written from the paper's equations and imported
// by tests only. One loop per sum, nothing stored that need not be, nothing
// shared with the code it judges: it knows no other package of this module.
//
// Letters: N rows, Q input dimensions, D outputs, L components, K features
// per component, M = L·K features; n, q, d, i, k their indices. Component of
// feature k is k/K.
//
// Two levels are judged. The model ([Params]): features, bounds,
// predictions, evidence, with [LoadGolden] for results of an independent
// implementation. And the damped cosines a backend sees ([Damped]): their
// moments, the adjoint of those, the factorized sums, predictions.
//
// Sizes are trusted: a slip in a shape panics with an index out of range.
package oracle
