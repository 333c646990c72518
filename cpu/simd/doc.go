// Package simd is the arithmetic of package cpu, written for the processor's
// vector units: damped cosines, the products Φ̄ᵀΦ̄ and Φ̄·B, the contraction
// of the pullback and of the factorised pass, and dense Cholesky factors.
//
// Features come eight at a time. A panel holds eight features over the rows of
// a tile as [n][8]float64, a row to a cache line, so that one vector of
// AVX-512 (two of AVX2) computes a row of a panel, and what it has written is
// already packed as the products read it.
//
// Every kernel exists for AVX-512, for AVX2 with FMA and as a plain loop; the
// processor decides which runs (see Use). The plain loop says what the kernel
// computes, runs on every other processor, and is what tests compare with.
// Within one set, sums are taken in one order that sizes and cuts into jobs do
// not change. The assembly is made by the module in asm.
package simd

//go:generate go run -C asm . -subject tile -out ../tile_amd64.s -stubs ../tile_amd64.go -pkg simd
//go:generate go run -C asm . -subject feature -out ../feature_amd64.s -stubs ../feature_amd64.go -pkg simd
//go:generate go run -C asm . -subject even -out ../even_amd64.s -stubs ../even_amd64.go -pkg simd
//go:generate go run -C asm . -subject contract -out ../contract_amd64.s -stubs ../contract_amd64.go -pkg simd
//go:generate go run -C asm . -subject dense -out ../dense_amd64.s -stubs ../dense_amd64.go -pkg simd
//go:generate go run -C asm . -subject peak -out ../peak_amd64.s -stubs ../peak_amd64.go -pkg simd
//go:generate go run -C asm . -subject dispatch
//go:generate go run -C asm . -subject sum
