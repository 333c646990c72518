// The generator of package simd's assembly is a module of its own, so that
// whoever uses vssgp never downloads avo.
module github.com/vssgp/vssgp/internal/simd/asm

go 1.25.0

require github.com/mmcloughlin/avo v0.5.0

require (
	golang.org/x/mod v0.31.0 // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/tools v0.40.0 // indirect
)
