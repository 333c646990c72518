// Package kernels holds the CUDA sources of the passes over the rows and of the
// algebra of windows, and the PTX made from them, embedded, so that a build needs
// no CUDA compiler. The equations are those of package spectral, the skeleton that
// of package cpu; read each kernel beside its Go file. Package gpu launches them.
//
// # Files
//
//	device.cuh       what kernels need of a machine, the same on a card and emulated
//	shape.cuh        constants that a launch has to know
//	feature.cuh      damped cosines: the functions of cpu/simd/feature.go
//	tile.cuh         T×T tiles of products, on the tensor cores
//	product.cuh      a tile of a symmetric matrix times features
//	contract.cuh     the sums over rows of one feature's derivatives
//	rows.cuh         rows in shared memory, a thread for each feature
//	moments.cu       cpu/moments.go, and the reductions of partial sums
//	pullback.cu      cpu/pullback.go
//	factorised.cu    cpu/factorised.go
//	predict.cu       cpu/predict.go
//	front.cuh        columns divided out of a front, products of what is below
//	chain.cuh        chains of blocks, levels
//	chain.cu         internal/blocktri: factor and solutions, by segments
//	inverse.cu       internal/blocktri: the stored blocks of A⁻¹, and the adjoint
//	shape.go         tiles and widths that package gpu plans with
//	args.go          generated: a struct for each kernel's arguments, the constants
//	ptx              generated: all kernels for sm_80 and sm_90, packed
//	kernels.sum      generated: hashes of sources and PTX, compiler, flags
//	emu              runs the sources on the processor, for tests
//	internal/source  reads the sources, runs the compiler
//
// Each .cu opens with its shapes, what a block owns and the precision of its
// sums.
//
// # Making the PTX
//
//	go generate ./kernels                              after any change of a source
//	go run ./internal/generate -ptx=false              in this folder: what needs no nvcc
//	go run ./internal/generate -ptx=false -report      registers, shared memory, spills
//
// The PTX is made by nvcc 11.8, so that drivers since 520 load it, sm_90 is known,
// and all who make it get the same bytes. There are no other sources of
// difference: flags stand in one place, and neither dates nor paths are in the
// output. Without that nvcc, the PTX and kernels.sum are left alone, and a test
// says so when they are not of the sources. Where there is one a test makes the
// PTX anew and compares; with VSSGP_REQUIRE_NVCC=1 it fails where there is none.
//
// A driver compiles the PTX for its card: sm_80 serves compute capability 8,
// sm_90 serves 9 and above. There is none for cards under 8.0, whose tensor cores
// do not multiply in float64.
//
// # Arguments
//
// A kernel's parameters are pointers, long long or double: eight bytes each, so
// that a launch takes one list of words and no layout can go wrong.
//
//	a := kernels.SumsReduce{Jobs: jobs.Address(), …, Width: 5}
//	launch(a.Name(), a.Block(), a.Words())
//
// The passes over the rows begin with the same arguments, an embedded RowsBank. A
// field means the same in every struct; pointers are addresses on the card. The
// head of each .cu says what shape a kernel wants of its own:
//
//	X, Y, Gate        rows: x [N,Q], y [N,D], gates [N,2] (0: no windows)
//	Even, Delta       [N] how many rows from one on are Delta apart (0: none)
//	N, M, Q, D        rows, features, inputs, outputs
//	D0                the first of the four outputs of this launch
//	Center, Decay     z, P [M,Q]
//	Turn, Phase       ω/2π [M,Q], c/2π [M]
//	Amp, Power, Ripple   A1, A0, A2 [M]
//	Rot               [M,6] rotations by Delta, made by features_prepare
//	Chunks, Runs   [·,8] rows of one run, with its features and blocks
//	Jobs              what each block does: chunk or run, tile, slot
//	Mean, Var         m, s [M,D]; Shared: s [M] where all outputs share it
//	Gram, Cbar        the blocks of G, S or Ḡ; C̄ [M,D]
//	Res, Value        r [N,D]; Σ‖r‖² of each job
//	Part, Out         partial sums by slot; what comes of them
//	Tile, Width       edge of a tile; numbers of one feature in Part
//	Index             [N] the rows that rows_gather copies to Xs, Ys, Gates
//
// Those of the chains of windows (chain.cuh) have besides:
//
//	Blocks, Count     [Count+1,6] a level's table: size and places of each block
//	At, Rhs           the level's matrix and right-hand sides
//	Under, UnderAt, UnderRhs   the same of the level below
//	Over, OverAt      the same of the level above
//	Fan, Length       blocks of a segment; blocks of the level
//	Stride            numbers from one row of a front to the next
//	Sums, Coef        sums of moments_columns; coefficients [M,D]
//	Logs, Traces      log-determinants and traces, one a segment or block
//	Lambda            λ, added to G's diagonal
//	Inverse, Outer, Linear   factors of A⁻¹, m mᵀ and m in the adjoint
//
// # Arithmetic
//
// The same function on a card and emulated. nvcc does not fuse products and sums
// by itself (--fmad=false), nor does the host's compiler; fma() stands where one
// is wanted. What is left to differ is exp, and the order within one tensor-core
// product.
//
// # Order of sums
//
// No atomics. A block adds over its rows in order and writes a partial result; a
// reduction adds those in order. How rows are cut depends on shapes alone: a
// repeat gives the same bits on the same card and driver.
//
// # Emulation
//
// With the build tag cudaemu, package emu compiles the sources with the host's
// C++ compiler, once for each architecture, and package cuda has a device for
// each:
//
//	go test -tags cudaemu ./...
package kernels
