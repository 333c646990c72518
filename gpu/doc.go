// Package gpu is the backend.Backend on NVIDIA cards, over packages cuda and
// kernels. It builds everywhere. Package cuda decides which cards there are (build
// tags cuda and cudaemu); without a card, Open's error wraps cuda.ErrNoDevice.
//
// # A call
//
// Each method of backend.Rows has values of the host as arguments and results: no device
// pointer, stream or context leaves the package. Open brings the rows to the card. Several cards take a rank each (package ranks).
//
//	upload    features, and weights or adjoints: O(M·(Q+D)), and Ḡ or S
//	launch    what multiplies features has them stored first, a slab of rows
//	          at a time; a kernel over chunks of rows; the reduction of its
//	          partial sums: a pass over the rows
//	download  the result, written to the caller's arrays if all went well
//
// Rows are laid out as in package cpu (backend.Prepared). If there is one input, each
// row has the number of rows from it on that are evenly spaced, exactly and by the
// most frequent step: there the kernels turn one feature into the next instead of
// beginning anew.
//
// # The algebra
//
// With one window, or windows whose features fit into shared memory (chain.go), CanSolve
// holds: the card also factors A = G + λI, solves and inverts it, in the Gram array
// itself. Solve leaves A⁻¹ there; PullbackSolved turns it into the adjoint and pulls
// that back. Nothing of G's size crosses to the host.
//
// # Order of sums
//
// An operation has a plan, which lists its passes (plan.go): tables say what each block
// does (kernels/tables.cuh). A run is cut into chunks of rows, and into tiles of features,
// by the shapes alone, so that a pass has some hundreds of blocks. A block sums one chunk,
// and one reduction adds the chunks of a run in order. Runs over windows of one parity
// share no feature. So even cells are reduced first, then odd ones, and each number of
// the result is the sum of at most two runs. From slab to slab a block continues its
// sums. A repeat therefore gives the same bits on any card of one architecture,
// however much memory is free, unless it is too little for tables (spectrum.go).
//
// # Memory
//
// The shapes say how much memory an operation needs, before anything is allocated
// (budget.go): rows, features, Gram matrix, tables, partial sums, stored features. If
// the partial sums do not fit all at once, they are taken for some runs at a time, and
// slabs have fewer rows. If that does not fit either, a BudgetError says how many rows
// would. Each array is one allocation, made at the first evaluation and used again, and
// so is its copy on the host, in page-locked memory: copies up and down are queued, and
// waited for once, at the end of a method. The rows of a mini-batch are gathered on the
// card.
//
// # Several at once
//
// Rows have a stream of their own, so several Rows of one Backend may be used
// from several goroutines. One goroutine at a time uses one Rows, as backend.Rows
// demands.
//
// # Files
//
// gpu.go has the card; timing.go, launch.go the queue of launches and copies, and
// times; runs.go, budget.go, chain.go, plan.go decide about order and memory, without
// any device; data.go has the rows; features.go, operation.go what every operation
// does; moments.go, pullback.go, factorized.go, predict.go are named as in package
// cpu; solve.go has the algebra of windows, dense.go that of one window;
// spectrum.go has the sums of one input without windows from tables (internal/rowspectrum).
package gpu
