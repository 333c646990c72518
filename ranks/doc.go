// Package ranks distributes the sums over rows over several processes, on one machine
// or many. Its Backend is a backend.Backend whose rows are on all of them.
//
// Rank 0 has the data, the parameters and the optimizer; the others Serve it. For each
// pass it sends the features, every rank sums over its own rows, and the sums are added
// on rank 0. Rank 0 alone takes all decisions, so clocks, signals and processors may
// differ between ranks.
//
// Rows are divided into shards by their number alone, and each rank gets neighboring
// shards. Sums are computed shard by shard in float64 and then added such that the order
// does not matter. So any number of ranks gives the same bits.
//
// # Windows
//
// With windows, rows are divided between their centers. A shard meets the windows
// [first, end) alone, and its rank holds their features, blocks of G and sums. Only the
// first and the last of them, the separators, belong to a neighboring shard as well.
// G is never assembled: each rank eliminates the inner windows of its shards
// (blocktri.Segment), and rank 0 factors the remaining matrix of the separators, a few
// blocks of M_v² numbers. A separator gets two contributions to each sum, and a + b = b + a.
//
// Without windows all shards meet the same features, and every rank has all of them.
// Everything else is the same, except how numbers travel: rank 0 broadcasts, and sums
// have many terms.
//
// The exact bound of one input without windows takes no passes on the CPU if tables cost
// less (internal/rowspectrum): rank 0 makes them from all rows, and evaluates alone.
//
// # Exact sums
//
// Floating-point addition depends on the order; integer addition does not. So without
// windows a shard's sums are rounded once to whole multiples of a unit, a power of 2 such
// that the total cannot exceed 2⁶¹ of them, and added as int64. For C and G a bound on
// each entry is known beforehand (unitsOf); for gradients the ranks first agree on the
// largest entry of any shard.
package ranks
