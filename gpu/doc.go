// Package gpu is the spectral.Backend on NVIDIA cards, over packages cuda and
// kernels. It builds everywhere; which cards there are is package cuda's
// matter (build tags cuda and cudaemu), and where there is none Open's error
// wraps cuda.ErrNoDevice.
//
// # One pass
//
// Each method of spectral.Rows is one pass, host values in, host values out: no
// device pointer, stream or context leaves the package. Open brings the rows to
// the card; several cards compute as several ranks do (package ranks).
//
//	upload    features, and weights or adjoints: O(M·(Q+D)), and Ḡ or S
//	launch    a kernel over chunks of rows, then the reduction of its
//	          partial sums
//	download  the result, written to the caller's arrays when all went well
//
// Rows are laid out as in package cpu (spectral.Prepared). Those of one input carry
// how many of them from each one on are evenly spaced, exactly and by the step met
// most often, so that the kernels may turn one feature into the next instead of
// beginning anew.
//
// # The algebra of windows
//
// With windows, and features enough in shared memory (chain.go), the card also
// factors A = G + λI, solves and inverts it, in place of the Gram array: CanSolve holds
// then. Solve leaves A⁻¹ there, PullbackSolved makes the adjoint of it and
// pulls that back. Nothing of G's size crosses to the host.
//
// # Order of sums
//
// A run is cut into chunks of rows, and into tiles of features, from the
// shapes alone (plan.go): so many that a pass has some hundreds of blocks. A
// block sums one chunk; the chunks of a run are added in order by one
// reduction. Runs over windows of one parity share no feature, so even cells are
// reduced first, then odd ones, and each number of the result is the sum of at
// most two runs'. So a repeat gives the same bits, on any card of one
// architecture, and the memory that is free does not change them.
//
// # Memory
//
// What an operation needs is known from the shapes before anything is allocated
// (budget.go): rows, features, Gram matrix, tables, partial sums. Where not all
// partial sums fit at once they are taken for some runs at a time. What does not
// fit then is refused with a BudgetError, which says how many rows would. Each
// array is one allocation, made at the first evaluation and used again. A
// mini-batch's rows are gathered on the card.
//
// # Several at once
//
// Rows have a stream of their own, so several Rows of one Backend may be used
// from several goroutines. One Rows is used by one goroutine at a time, as the
// contract of spectral.Rows has it.
//
// # Files
//
// gpu.go the card; timing.go, launch.go launches and their times; runs.go, budget.go,
// chain.go, plan.go what is done in which order and in which memory, without any
// device; data.go the rows; features.go, operation.go what every operation does;
// moments.go, pullback.go, factorised.go, predict.go as in package cpu; solve.go the
// algebra of windows.
package gpu
