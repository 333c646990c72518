// Package kernels will hold the CUDA sources of the passes over the rows and
// the PTX made from them, embedded, so that a build needs no CUDA compiler.
//
// Nothing is here yet: this page is the contract that the sources will fulfil
// and package gpu will rely on. The equations are those of package spectral,
// the skeleton that of package cpu; read each kernel beside its Go file.
//
// # Files
//
//	feature.cuh    dampedCosine, gate, E[φ], E[φ²] and contract: the functions
//	               of cpu/feature.go under the same names
//	moments.cu     moments_partial, moments_reduce           cpu/moments.go
//	pullback.cu    pullback_partial, pullback_reduce         cpu/pullback.go
//	factorised.cu  factorised_residual, factorised_partial,
//	               factorised_reduce                         cpu/factorised.go
//	predict.cu     predict_partial, predict_reduce           cpu/predict.go
//	*.ptx          one for each .cu and precision, made by go generate
//	kernels.sum    hashes of the sources and of the PTX, compiler version, flags
//
// go generate also writes a Go file: a constant for each kernel's name and a
// struct for each kernel's arguments, sorted, with neither dates nor paths. A
// test compares hashes where there is no compiler, and rebuilds and compares
// where there is one. Each .cu opens with its shapes, what a block owns, the
// precision of every sum and the versions tried with their times.
//
// # Operations
//
// Rows come in the order of a spectral.Layout: runs that meet the features of
// the same windows, a run cut into tiles of T rows (T is a multiple of 32), a
// tile never crossing a run. m is the number of features over a run. All
// arrays are row-major; a kernel takes one pointer, to its argument struct.
//
//	common    X [N,Q] · Y [N,D] · runs (lo, hi, first, end window) ·
//	          window centres [V], length · Center, Decay, Freq [M,Q] ·
//	          Phase, Amp, Power, Ripple [M] · offsets [V+1]
//	moments   → C [M,D] = Φ̄ᵀY · Gram: Diag_v [M_v,M_v], lower triangle with
//	          Σ_n E[φ²] on the diagonal, Below_v [M_{v+1},M_v]
//	pullback  C̄ [M,D] · Ḡ blocks → the 4+3Q sums of each feature, [M,4+3Q]:
//	          Σθ̄, Ā1, Ā0, Ā2, Σθ̄·d_q, Σq̄·d_q, Σq̄·d_q². The host makes the
//	          adjoint of the features from them, as cpu's sums.features does.
//	factorised  m, s [M,D] · rows [R] (none: all) → F · the 4+3Q sums ·
//	          ∂F/∂m, ∂F/∂s [M,D], in O(R·M·(Q+D)): residuals of a tile first,
//	          then its gradient
//	predict   m [M,D] · S blocks, or s [M,D] → mean [N,D], covariance [N,D,D]
//
// The upper triangle of a diagonal block of G is neither computed nor
// written; blocks further than one window apart do not exist. Flops: moments
// N·m² + 2·N·m·D, pullback 2·N·m², predict 2·N·m² with a shared covariance,
// besides about 40 for each feature met by a row.
//
// # Precision
//
// float64: phases, features, products and sums in float64. Its errors against
// the oracle are those that the conformance suite allows package cpu.
//
// mixed: the phase is formed and reduced in turns in float64 and rounded to
// float32 only after that; cosine, sine, exponential and the gate are taken in
// float32 and E[φ] is rounded there once. Products of two such numbers are
// exact in float64, and every sum over rows is a float64 sum. The diagonal of
// G is Σ φ̃² of the rounded features plus the spread Σ (E[φ²] − E[φ]²), which is
// not negative; so G remains a sum of positive semidefinite parts and A = G +
// τ⁻¹I has a Cholesky factor at any τ that float64 has one for. A Gram matrix
// summed in float32 need not have one from N·σ²·τ near 10⁷ on.
//
// The tolerances of mixed go into internal/backendtest when they have been
// measured, with where they come from.
//
// # Order of sums
//
// No floating-point atomics. A partial kernel gives each of S stretches of
// tiles to one block, which adds its tiles in order; the reduce kernel adds
// the S stretches in order. S depends on the shapes alone, not on the card or
// on what else it is doing: a repeat gives the same bits on the same card and
// driver.
//
// # Memory
//
// No array of N×M numbers: a tile's features live in shared memory, or in a
// workspace that is reused tile by tile. Known before a launch from the shapes:
//
//	rows       8·N·(Q+D) bytes, 4·R more for a mini-batch
//	features   8·M·(3Q+4), and as much for the sums
//	Gram       8·Σ_v (M_v² + M_v·M_{v+1}), twice for pullback
//	partials   S times the operation's result
//	workspace  one tile of T×m numbers for each block in flight
//
// Where the rows do not fit the budget they go through two staging buffers of
// whole tiles, one being filled while the other is summed.
package kernels
