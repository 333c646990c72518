// Package simd contains the vectorized arithmetic of package cpu: damped cosines, the products
// Φ̄ᵀΦ̄ and Φ̄·B, the contraction of the pullback and of the factorized pass, and dense Cholesky
// factors.
//
// Features are processed in groups of eight. A panel contains eight features over the rows of a
// tile as [n][8]float64, one row per cache line. One vector of AVX-512 (two of AVX2) computes a row
// of a panel, which already has the packed layout of the products.
//
// Every kernel exists for AVX-512, for AVX2 with FMA and as a plain loop; the processor determines
// which one runs (see Use). The plain loop defines the result, runs on every other processor, and
// is the reference of the tests. Within one set, the order of sums depends neither on sizes nor on
// the division into jobs. The module in asm generates the assembly.
package simd

//go:generate go run -C asm . -subject tile -out ../tile_amd64.s -stubs ../tile_amd64.go -pkg simd
//go:generate go run -C asm . -subject feature -out ../feature_amd64.s -stubs ../feature_amd64.go -pkg simd
//go:generate go run -C asm . -subject even -out ../even_amd64.s -stubs ../even_amd64.go -pkg simd
//go:generate go run -C asm . -subject contract -out ../contract_amd64.s -stubs ../contract_amd64.go -pkg simd
//go:generate go run -C asm . -subject dense -out ../dense_amd64.s -stubs ../dense_amd64.go -pkg simd
//go:generate go run -C asm . -subject lattice -out ../lattice_amd64.s -stubs ../lattice_amd64.go -pkg simd
//go:generate go run -C asm . -subject sumwaves -out ../sumwaves_amd64.s -stubs ../sumwaves_amd64.go -pkg simd
//go:generate go run -C asm . -subject pairwaves -out ../pairwaves_amd64.s -stubs ../pairwaves_amd64.go -pkg simd
//go:generate go run -C asm . -subject patch -out ../patch_amd64.s -stubs ../patch_amd64.go -pkg simd
//go:generate go run -C asm . -subject peak -out ../peak_amd64.s -stubs ../peak_amd64.go -pkg simd
//go:generate go run -C asm . -subject dispatch
//go:generate go test -run TestGeneratedFilesMatchHashes -write-sum
