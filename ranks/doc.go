// Package ranks spreads the sums over rows over several processes, on one
// machine or many: a spectral.Backend whose rows lie on all of them.
//
// Rank 0 has the data, the parameters and the optimiser; the others Serve it.
// For each pass it sends the features, every rank sums over its own rows, and
// the sums are added on rank 0. Nothing that decides is done by more than one, so
// clocks, signals and processors may differ between ranks.
//
// Rows are cut into shares by their number alone, and neighbouring shares go to
// a rank. Sums are taken share by share in float64, and then added so that the
// order does not matter (see Exact sums, below): any number of ranks gives the
// same bits.
//
// # Exact sums
//
// Floating-point addition depends on the order; that of integers does not. So a
// share's sums are rounded once to whole multiples of a unit, a power of 2 of
// which the total cannot exceed 2⁶¹, and added as int64. For C and G a bound on
// each entry is known beforehand (unitsOf); for gradients the ranks first agree
// on the largest entry of any share.
//
// # Windows
//
// Shares are cut between cells. Share s meets the windows [first, end) alone,
// and holds their features, blocks of G and sums; only its first and its last
// window are also another share's. G is never put together: each rank
// eliminates the inner windows of its shares (blocktri.Segment), and what is
// left for the windows between shares, a few blocks of M_v² numbers, is factored
// on rank 0. A window between two shares gets two contributions to each sum,
// and a + b = b + a.
package ranks
