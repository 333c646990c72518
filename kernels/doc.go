// Package kernels contains the CUDA kernels of package gpu and their arguments. It is a part of
// vssgp's implementation: it is public for programs that examine the PTX, but its API may change in
// any release.
//
// The kernels compute the passes over the rows and the algebra of windows. Their PTX is embedded, so
// a build needs no CUDA compiler. Package backend documents the equations, and package cpu computes
// them in the same steps: the first line of a .cu names the Go file to compare it with. Package gpu
// launches the kernels. Arguments and shapes are not checked here.
//
// # Files
//
// In the order in which to read them. A feature at a row:
//
//	device.cuh       barriers and shared memory, on a GPU and emulated
//	tables.cuh       rows of the tables passed to a launch: chunks, jobs, reductions
//	shape.cuh        constants needed for launches
//	feature.cuh      damped cosines: the functions of internal/simd/feature.go
//
// Passes over the rows:
//
//	store.cuh        features in device memory, panels of them in shared memory
//	store.cu         writes them
//	tile.cuh         T×T tiles of products, on the tensor cores
//	moments.cu       C and G
//	product.cuh      a tile of a symmetric matrix times stored features
//	contract.cuh     the sums over rows of one feature's derivatives
//	pullback.cu      the gradient with respect to the features, given the gradients with respect to C and G
//	rows.cuh         rows in shared memory, one thread per feature
//	factorized.cu    the factorized bound
//	predict.cu       means and covariances of rows, and rows of a mini-batch
//	reduce.cu        adds the partial sums of these passes, and begins the algebra
//
// Tables instead of passes:
//
//	spectrum.cuh     sums over rows of a wave
//	spectrum.cu      C, G and the gradient
//	plane.cuh        sums over rows of a wave over two inputs, by a warp
//	plane.cu         C and G for two inputs, whose gradient spectrum.cu computes
//
// The algebra of A = G + λI:
//
//	front.cuh        elimination of columns of a front, products of the rows below
//	chain.cuh        chains of blocks, levels
//	chain.cu         windows: factor and solutions, by segments
//	inverse.cu       windows: the stored blocks of A⁻¹, and the adjoint
//	dense.cu         one window, by tiles
//
// Not CUDA:
//
//	shape.go         tiles and widths for package gpu
//	args.go          generated: a struct for each kernel's arguments, the constants, rows of tables
//	ptx              generated: all kernels for sm_80 and sm_90, packed
//	kernels.sum      generated: hashes of sources and PTX, compiler, flags
//	internal/source  reads the sources, runs the compiler
//
// and elsewhere in the module:
//
//	gpu/internal/emu                 runs the sources on the CPU, for tests
//	internal/testkit/ptxcheck        compiles the PTX for all kinds of GPUs, checks spills and code
//	internal/testkit/ptxcheck/sass   reads machine code, counts the instructions of its loops
//
// Each .cu begins with the Go file that computes the same, its shapes, the work of a block and the
// precision of its sums.
//
// # Making the PTX
//
//	go generate ./kernels                              after any change of a source
//	go run ./internal/generate -ptx=false              in this folder: the files that need no nvcc
//	go run ../internal/testkit/ptxcheck -table         reported by ptxas: registers, stack, spills
//	go run ../internal/testkit/ptxcheck -arch 90 -kernel NAME
//	                                                   a kernel's loops: instructions, cycles to issue them
//
// nvcc 11.8 compiles the PTX: drivers since 520 load it, it supports sm_90, and its output is
// reproducible: flags are defined in one file, and the output contains neither dates nor paths.
// Without that nvcc, the PTX and kernels.sum are not changed, and a test fails if they were made
// from other sources. With it, a test regenerates the PTX and compares. If VSSGP_REQUIRE_NVCC=1,
// that test fails without nvcc.
//
// A driver compiles the PTX for its GPU: sm_80 for compute capability 8, sm_90 for 9 and above. Package
// gpu loads each kernel at its first launch, by Image, because compiling all of them takes five seconds.
// GPUs below 8.0 are not supported: their tensor cores do not multiply in float64.
//
// # Arguments
//
// A kernel's parameters are pointers, long long or double. All have eight bytes, so that a launch
// takes a list of words and needs no struct layout.
//
//	a := kernels.SumsReduce{Chunks: chunks.Address(), …, Width: 5}
//	launch(a.Name(), a.Block(), a.Words())
//
// The passes over the rows begin with the same arguments, an embedded PassArgs. A field has the
// same meaning in every struct; pointers are device addresses. The comment at the top of each .cu
// gives the shapes of the other arguments.
//
//	X, Y, Gate        rows: x [N,Q], y [N,D], gates [N,2] (0: no windows)
//	Even, Delta       [N] number of rows, from each row on, that are Delta apart (0: none)
//	N, M, Q, D        rows, features, inputs, outputs
//	D0                the first of the four outputs of this launch
//	Center, Decay     z, P [M,Q]
//	Turn, Phase       ω/2π [M,Q], c/2π [M]
//	Amp, Power, Ripple   A1, A0, A2 [M]
//	Rot               [M,3] rotations by Delta, made by features_prepare
//	Chunks, Jobs      tables of Chunk and Job (tables.cuh): rows and the features over them,
//	                  and what each block does with them
//	Reductions        a table of Reduction: partial sums to add
//	Store             E[φ] of rows Slab … Slab+Most−1 of every chunk (store.cuh)
//	Mean, Var         m, s [M,D]; Shared: s [M] if shared by all outputs
//	Gram, Cbar        the blocks of G, S or Ḡ; C̄ [M,D]
//	Res, Value        r [N,D]; Σ‖r‖² of each job
//	Part, Out         partial sums by slot; their sums
//	Kept              not 0: the sums by input are in shared memory during a launch
//	Tile, Width       edge of a tile; numbers of one feature in Part
//	Sides             number of consecutive sums in a slot of Part
//	Index             [N] the rows that rows_gather copies to Xs, Ys, Gates
//
// The kernels for chains of windows (chain.cuh) also have:
//
//	Blocks, Count     a level's table of Count+1 ChainBlocks (tables.cuh)
//	At, Rhs           the level's matrix and right-hand sides
//	Under, UnderAt, UnderRhs   the same for the level below
//	Over, OverAt      the same for the level above
//	Fan, Length       blocks of a segment; blocks of the level
//	Stride            distance between rows of a front
//	Sums, Coef        sums of moments_columns; coefficients [M,D]
//	Logs, Traces      log-determinants and traces, one per segment or block
//	Lambda            λ, added to G's diagonal
//	Inverse, Outer, Linear   factors of A⁻¹, m mᵀ and m in the adjoint
//
// The kernels for one window (dense.cu) have
//
//	Corner, Y         the factor's diagonal blocks; right-hand sides
//	From, Mid         columns whose products are subtracted from columns from Mid on
//	Columns, Col0     number of tiles from Mid on; first column of a panel
//	Share             factor of the previous Mean
//
// The kernels for tables (spectrum.cuh) begin with the arrays and numbers of rowspectrum.Arrays and
// Grid, an embedded Spectrum:
//
//	Tables, Entries   [1+D,Entries] E_g, and their number
//	Values, Places    [1+D,Rows] the vectors v; [Rows,4] uneven rows
//	Rows, First       positions or uneven rows; the first position
//	Irregular, Irregulars   even positions without exactly one row, and their number
//	Length, Margin, Reach   numbers of frequencies: of a period, below 0, on each side of a sum
//	Period, Angle, P0, Density, Span, Digits   T, 2π/T, P₀, √(2π)/T, 2 max|X|, 8.2
//	Unit              a step in units of x
//	Waves             [M,7] P, Z in two numbers, ωT/2π in two, turns at X = 0, the feature; sorted by reach
//	Pairs, Singles    sums of pairs of features, and of each feature with each vector
//	Q, Input          number of inputs; the input to which the waves and sums of spectrum_pullback belong
//
// The kernels for tables of two inputs (plane.cuh) begin with an embedded Plane:
//
//	Tables, Entries   [1+D,Entries] E_g as in rowspectrum.Arrays.Planes, and the numbers of each
//	Width             distance between real and imaginary parts
//	Axes              [2,7] the numbers of rowspectrum.Axis without the unit, and the largest frequency in the tables
//	Waves             [2,M,7] as for one input, for each input; the turns of a feature are the total of both
//	Runs, Count       the first wave of each of Count runs that differ only in phase, then M
//
// # Arithmetic
//
// A kernel computes the same function on a GPU and emulated. Neither nvcc (--fmad=false) nor the
// host's compiler fuses multiplications and additions; the sources call fma() explicitly. Only exp,
// log, d^−½ and the order of the sum within one tensor-core product can differ.
//
// There are no atomics: package gpu describes the order of sums, and docs/cuda.md the emulation (-tags
// cudaemu) and its detector of races.
package kernels
