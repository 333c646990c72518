// Package kernels holds the CUDA sources of the passes over the rows and of the
// algebra of windows. It embeds the PTX made from them, so that a build does not need
// a CUDA compiler. Package backend has the equations, and package cpu computes them in
// the same steps: read each kernel beside its Go file. Package gpu launches the kernels.
//
// # Files
//
//	device.cuh       barriers, shared memory: the same on a card and emulated
//	shape.cuh        constants that a launch has to know
//	tables.cuh       rows of the tables that a launch brings
//	feature.cuh      damped cosines: the functions of internal/simd/feature.go
//	tile.cuh         T×T tiles of products, on the tensor cores
//	store.cuh        features in device memory, panels of them in shared memory
//	store.cu         makes them
//	product.cuh      a tile of a symmetric matrix times stored features
//	contract.cuh     the sums over rows of one feature's derivatives
//	rows.cuh         rows in shared memory, a thread for each feature
//	moments.cu       cpu/moments.go, and the reductions of partial sums
//	pullback.cu      cpu/pullback.go
//	factorized.cu    cpu/factorized.go
//	predict.cu       cpu/predict.go
//	spectrum.cuh     internal/rowspectrum: sums over rows of a wave from tables
//	spectrum.cu      moments and pullback from them
//	front.cuh        columns divided out of a front, products of the rows below
//	chain.cuh        chains of blocks, levels
//	chain.cu         internal/linalg/blocktri: factor and solutions, by segments
//	inverse.cu       internal/linalg/blocktri: the stored blocks of A⁻¹, and the adjoint
//	dense.cu         the same for one window, by tiles
//	shape.go         tiles and widths that package gpu plans with
//	args.go          generated: a struct for each kernel's arguments, the constants, rows of tables
//	ptx              generated: all kernels for sm_80 and sm_90, packed
//	kernels.sum      generated: hashes of sources and PTX, compiler, flags
//	internal/source  reads the sources, runs the compiler
//
// and in internal/testkit of the module:
//
//	emu              runs the sources on the processor, for tests
//	ptxcheck         compiles the PTX for cards of all kinds, looks at spills and code
//	ptxcheck/sass    reads machine code, counts the instructions of its loops
//
// Each .cu opens with its shapes, what a block owns and the precision of its
// sums.
//
// # Making the PTX
//
//	go generate ./kernels                              after any change of a source
//	go run ./internal/generate -ptx=false              in this folder: what needs no nvcc
//	go run ../internal/testkit/ptxcheck -table         what ptxas says: registers, stack, spills
//	go run ../internal/testkit/ptxcheck -arch 90 -kernel NAME
//	                                                   a kernel's loops: instructions, cycles to issue them
//
// nvcc 11.8 makes the PTX: drivers since 520 load it, that release knows sm_90, and
// the bytes are the same wherever it is made. Nothing else makes a difference: flags
// stand in one place, and the output has neither dates nor paths. Without that nvcc,
// the PTX and kernels.sum are left alone, and a test says so if they were made from
// other sources. With that nvcc a test makes the PTX anew and compares;
// VSSGP_REQUIRE_NVCC=1 makes it fail without.
//
// A driver compiles the PTX for its card: sm_80 serves compute capability 8,
// sm_90 serves 9 and above. Cards below 8.0 are not served: their tensor cores do not
// multiply in float64.
//
// # Arguments
//
// A kernel's parameters are pointers, long long or double: eight bytes each, so
// that a launch takes one list of words and no layout can go wrong.
//
//	a := kernels.SumsReduce{Chunks: chunks.Address(), …, Width: 5}
//	launch(a.Name(), a.Block(), a.Words())
//
// The passes over the rows begin with the same arguments, an embedded RowsBank. A
// field means the same in every struct; pointers are addresses on the card. The
// head of each .cu has the shapes of a kernel's own arguments.
//
//	X, Y, Gate        rows: x [N,Q], y [N,D], gates [N,2] (0: no windows)
//	Even, Delta       [N] how many rows from one on are Delta apart (0: none)
//	N, M, Q, D        rows, features, inputs, outputs
//	D0                the first of the four outputs of this launch
//	Center, Decay     z, P [M,Q]
//	Turn, Phase       ω/2π [M,Q], c/2π [M]
//	Amp, Power, Ripple   A1, A0, A2 [M]
//	Rot               [M,3] rotations by Delta, made by features_prepare
//	Chunks, Jobs      tables of Chunk and Job (tables.cuh): rows and the features over them,
//	                  and what each block does with them
//	Reductions        a table of Reduction: the partial sums that each block adds
//	Store             E[φ] of rows Slab … Slab+Most−1 of every chunk (store.cuh)
//	Stored            2·Ḡφ̄ of those rows, by digits_product_S
//	Digits, Adjoint   how many int8 digits; those of Ḡ with their scales (digits.cu)
//	Mean, Var         m, s [M,D]; Shared: s [M] where all outputs share it
//	Gram, Cbar        the blocks of G, S or Ḡ; C̄ [M,D]
//	Res, Value        r [N,D]; Σ‖r‖² of each job
//	Part, Out         partial sums by slot; their sums
//	Tile, Width       edge of a tile; numbers of one feature in Part
//	Sides             how many sums a slot of Part has, one behind the other
//	Index             [N] the rows that rows_gather copies to Xs, Ys, Gates
//
// The kernels for chains of windows (chain.cuh) have in addition:
//
//	Blocks, Count     a level's table of Count+1 ChainBlocks (tables.cuh)
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
// Those for one window (dense.cu) have
//
//	Corner, Y         the factor's diagonal blocks; right-hand sides
//	From, Mid         columns whose products are taken from those from Mid on
//	Columns, Col0     how many tiles there are from Mid on; the first column of a panel
//	Share             how much of Mean stays
//
// Those for tables (spectrum.cuh) begin with the arrays and numbers of rowspectrum.Arrays
// and Grid, an embedded Spectrum:
//
//	Tables, Entries   [1+D,Entries] E_g, and how many there are
//	Values, Places    [1+D,Rows] the vectors v; [Rows,4] uneven rows
//	Rows, First       places or uneven rows; the first place
//	Irregular, Irregulars   even places with another number of rows than one, how many
//	Length, Margin, Reach   frequencies of a period, below 0, of a sum on each side
//	Period, Angle, P0, Density, Span, Digits   T, 2π/T, P₀, √(2π)/T, 2 max|X|, 8.2
//	Unit              a step in units of x
//	Waves             [M,6] P, Z in two numbers, ωT/2π in two, turns at X = 0
//	Pairs, Singles    the sums of pairs of features, and of each with each vector
//
// # Arithmetic
//
// A kernel computes the same function on a card and emulated. nvcc does not fuse
// products and sums by itself (--fmad=false), nor does the host's compiler; the sources
// say fma() where they want it. Only exp, log and d^−½ can differ, and the order of the sum within
// one tensor-core product.
//
// # Order of sums
//
// There are no atomics. A block adds over its rows in order and writes a partial
// result; a reduction adds the partial results in order. Shapes alone decide how rows
// are cut, so a repeat gives the same bits on the same card and driver.
//
// # Emulation
//
// With the build tag cudaemu, package emu compiles the sources with the host's
// C++ compiler, once for each architecture, and package cuda has a device for
// each:
//
//	go test -tags cudaemu ./...
//	go test -tags cudaemu,racekernels -ldflags='-s=0 -w=0' ./internal/testkit/emu ./gpu
//
// The second looks for races between threads, and takes ten times as long.
package kernels
