// Package gpu is the spectral.Backend on NVIDIA cards, over packages cuda and
// kernels. It builds everywhere; which cards there are is package cuda's
// matter (build tags cuda and cudaemu), and where there is none Open's error
// wraps cuda.ErrNoDevice.
//
// # One pass
//
// Each method of spectral.Rows is one pass, host values in, host values out: no
// device pointer, stream or context leaves the package.
//
//	upload    features, and weights or adjoints: O(M·(Q+D)), and Ḡ or S
//	launch    a kernel over stretches of rows, then the reduction of its
//	          partial sums
//	download  the result, written to the caller's arrays when all went well
//
// The layout of the rows is package cpu's (spectral.Layout). Their gates are
// computed on the host, once; rows of one input also carry how many of them from
// each one on are evenly spaced, exactly and by the step met most often, so that
// the kernels may turn one feature into the next instead of beginning anew.
//
// # The algebra of windows
//
// With windows, and features enough in shared memory (chain.go), one card also
// factors A = G + λI, solves and inverts it, in the Gram array's own room: the Rows
// are a spectral.Solver then. Solve leaves A⁻¹ there, PullbackSolved makes the
// adjoint of it and pulls that back. Nothing of G's size crosses to the host.
//
// # Order of sums
//
// A run is cut into stretches of rows, and into tiles of features, from the
// shapes alone (plan.go): so many that a pass has some hundreds of blocks. A
// block sums one stretch; the stretches of a run are added in order by one
// reduction. Runs over windows of one parity share no feature, so even cells are
// reduced first, then odd ones, and each number of the result is the sum of at
// most two runs'. So a repeat gives the same bits, on any card of one
// architecture, and the memory that is free does not change them. Several cards
// each take consecutive rows, and their results are added in the order of the
// cards: another number of cards rounds otherwise.
//
// # Memory
//
// What an operation needs is known from the shapes before anything is allocated
// (budget.go): rows, features, Gram matrix, tables, partial sums. The first of
// these that fits is taken: all at once; all rows, and partial sums for some
// runs at a time; some rows and some partial sums, the rows streamed from the
// host chunk by chunk. What fits in none of them is refused with a BudgetError.
// Each array is one allocation, made at the first evaluation and used again.
//
// A mini-batch's rows are gathered on the card where all rows are there, else
// on the host.
//
// # Several at once
//
// Rows have a stream of their own, so several Rows of one Backend may be used
// from several goroutines. One Rows is used by one goroutine at a time, as the
// contract of spectral.Rows has it.
//
// # Files
//
// gpu.go, card.go, timing.go the cards; data.go, pick.go the rows on the host;
// plan.go, kinds.go, budget.go, layout.go what is done in which order and in
// which memory, without any device; share.go the rows of one card; features.go,
// moments.go, pullback.go, factorised.go, predict.go as in package cpu; chain.go
// the levels of the algebra, solve.go what is launched for it.
package gpu
