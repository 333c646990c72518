// Package ranks distributes the sums over rows over several processes, on one or several machines.
// Its Backend is a backend.Backend whose rows are distributed over all of them.
//
//	        rank 0: data, parameters, optimizer
//	           │ features        ^ sums
//	           ├──────────┬──────┴───┐
//	        rank 0     rank 1     rank 2         each with a backend: cpu or gpu
//	rows    0 … N/3    … 2N/3     … N
//
// Every rank runs the same program:
//
//	c, leave, err := ranks.World() // of mpirun; otherwise c is nil
//	defer leave()
//	if c.Rank() > 0 {
//		return ranks.Serve(c, open) // open returns the backend of this rank
//	}
//	defer ranks.Quit(c)
//	b, err := ranks.New(c, cpu.New(), "")
//	model, result, err := vssgp.Fit(ctx, data, vssgp.Options{Backend: b})
//
// Rank 0 has the data, the parameters and the optimizer; the others run Serve. For each pass rank 0
// sends the features, every rank sums over its rows, and the sums are added on rank 0. Only rank 0
// makes decisions, so clocks, signals and processors may differ between ranks.
//
// The number of rows alone determines how rows are divided into shards, and each rank gets
// consecutive shards. Sums are computed per shard in float64 and then added independently of the
// order. So any number of ranks gives the same bits.
//
// # Windows
//
// With windows, rows are divided between the windows' centers. A shard overlaps only the windows
// [first, end), and its rank has their features, blocks of G and sums. The first and the last of
// them, the separators, are shared with the neighboring shards. G is never assembled: each rank
// eliminates the inner windows of its shards (blocktri.Segment), and rank 0 factors the remaining
// matrix of the separators, a few blocks of M_v² numbers. Each sum of a separator has two terms,
// so it does not depend on their order.
//
// Without windows all shards use the same features, and every rank has all of them. The rest is
// the same, except that rank 0 broadcasts and sums have many terms.
//
// On the CPU, the exact bound of one or two inputs without windows uses no passes if tables cost less
// (internal/rowspectrum): rank 0 computes them from all rows, and evaluates alone.
//
// # Exact sums
//
// Floating-point addition depends on the order; integer addition does not. Without windows, a
// shard's sums are therefore rounded once to integer multiples of a unit and added as int64. The
// unit is a power of 2 such that the total cannot exceed 2⁶¹ units. For C and G a bound on each
// entry is known beforehand (unitsOf); for gradients the ranks first agree on the largest entry of
// any shard.
package ranks
