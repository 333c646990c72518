// Package gpu will be the spectral.Backend on NVIDIA cards, over packages cuda
// and kernels. Nothing is here yet: this page is its contract.
//
// # Opening
//
//	Open(o Options) (*Backend, error)      build tag cuda
//	Options{Ordinal int, Precision Precision, Budget int64}
//
// Precision is Float64 (default) or Mixed (package kernels says what each
// promises). Budget is the device memory to use at most; 0 is nine tenths of
// what is free. Where there is no card, Open's error wraps cuda.ErrNoDevice.
// Name is "cuda:0 NVIDIA H200", with " mixed" after it in that precision, so
// that every result says what computed it.
//
// The command line's --device auto takes a card where the build and the
// machine have one, says which, and else takes package cpu and says why; cuda
// or cuda:1 where there is none is an error. One place decides.
//
// # Rows
//
// Open on a Backend sorts the rows into runs (spectral.Layout), exactly as
// package cpu does, and uploads them once; where they do not fit the budget
// they stay in page-locked host memory and are streamed. Each method of
// spectral.Rows is one pass:
//
//	upload    features, and weights or adjoints: O(M·(Q+D)), and Ḡ
//	launch    the partial kernel over all runs, the reduce kernel
//	download  the result
//
// and hands host values back: no device pointer, stream or context leaves the
// package. Files are those of package cpu (data.go, moments.go, pullback.go,
// factorised.go, predict.go) and share the shape checks in spectral, so that a
// mistake reads alike whatever computes.
//
// Factoring A, solves and the chain rule to the parameters stay on the host
// (internal/blocktri): with windows they are O(V·M_v³) beside the passes'
// O(N·M_v²). A batch of small factorisations on the card is a later step, to
// be taken when a profile asks for it.
//
// # Streams
//
// A Rows has a stream of its own for kernels and one for copies, joined by
// events: the next chunk's rows go up while this one's are summed. Several
// Rows of one Backend may be used from several goroutines at once; that is how
// impute keeps a card busy with small excerpts. One Rows is used by one
// goroutine at a time, as the contract of spectral.Rows has it.
//
// # Tests
//
// One line: backendtest.Run, for each precision. A test is skipped only for
// an error that wraps cuda.ErrNoDevice, and VSSGP_REQUIRE_GPU=1 makes that a
// failure. Device memory held at the end fails the run.
package gpu
