package gpu

import (
	"fmt"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/kernels"
)

// storeRows stores the digits of features for sums over the rows. The number of rows is limited by
// the range of int32.
func storeRows(digits int) storage {
	return storage{number: int64(digits), unit: kernels.DigitStage, most: kernels.DigitSum,
		kernel: func(a kernels.RowsBank, s slab, store uint64) kernel {
			return &kernels.DigitsRows{RowsBank: a, Slab: s.first, Most: s.rows, Store: store, Digits: int64(digits)}
		}}
}

// storeFeatureDigits stores the digits for sums over the features, followed by the products in
// float64.
func storeFeatureDigits(digits int) storage {
	return storage{number: int64(digits + 8), unit: kernels.DigitStage, most: longest,
		kernel: func(a kernels.RowsBank, s slab, store uint64) kernel {
			return &kernels.DigitsFeatures{RowsBank: a, Slab: s.first, Most: s.rows, Store: store, Digits: int64(digits)}
		}}
}

// byDigits returns gramKind with integer sums instead of float64.
func (k kind) byDigits(digits int) kind {
	k.storage, k.slotBytes = storeRows(digits), 16*kernels.DigitTile*kernels.DigitTile
	return k
}

// summable returns an error if a run has more features than an int32 sum over them allows.
func summable(runs []run) error {
	if m := widest(runs); m > kernels.DigitSum {
		return fmt.Errorf("%d features over the same rows exceed the maximum of %d for digits; use float64 or smaller windows: %w", m,
			kernels.DigitSum, backend.ErrShape)
	}
	return nil
}

// addAdjoint assigns the runs their positions in the array of the digits of Ḡ, and adds a job for
// every columnBlock features of a run. A job names the first chunk of k in its run.
func (p *plan) addAdjoint(k kind, runs []run, digits int) error {
	var jobs []kernels.Job
	_, of := k.chunks(runs, k.count)
	at := int64(0)
	for i := range runs {
		r := &runs[i]
		r.Adjoint = at
		at += int64(kernels.DigitAdjoint(int(r.M), digits))
		for block := range parts(r.M, columnBlock) {
			jobs = append(jobs, kernels.Job{Chunk: int64(of[i].lo), Block: block})
		}
	}
	p.needs[arrayDigits] = at
	p.rowJobs = add(p, jobs)
	return summable(runs)
}

// gramByDigits launches the digit version of MomentsGram64.
func (r *rows) gramByDigits(a kernels.RowsBank, s slab, blocks int) {
	k := &kernels.DigitsGram7{Chunks: a.Chunks, Jobs: a.Jobs, Slab: s.first, Most: s.rows, Store: r.address(arrayStore),
		Part: r.address(arrayPart)}
	r.launch(of{k, r.card.digits}, blocks, kernels.DigitShared(r.card.digits))
}

// adjointDigits writes the digits of Ḡ to arrayDigits.
func (r *rows) adjointDigits(p *plan, a kernels.RowsBank) {
	k := &kernels.DigitsAdjoint{
		Chunks: r.at(p, p.passes[0].chunkTable), Jobs: r.at(p, p.rowJobs), Gram: r.address(arrayGram), Amp: a.Amp,
		Adjoint: r.address(arrayDigits), Digits: int64(r.card.digits),
	}
	r.launch(k, p.rowJobs.rows, 0)
}

// pullbackByDigits launches the digit version of Pullback64: the products, which follow the
// features' digits in the store, and their contraction.
func (r *rows) pullbackByDigits(pass *pass, a kernels.RowsBank, s slab, coef, part uint64, blocks int) {
	n := r.card.digits
	store := r.address(arrayStore)
	stored := store + uint64(pass.store/pass.number*int64(n))
	k := &kernels.DigitsProduct7{
		Chunks: a.Chunks, Jobs: a.Jobs, Slab: s.first, Most: s.rows, Store: store, Adjoint: r.address(arrayDigits), Stored: stored,
	}
	r.launchGrid(of{k, n}, blocks, parts(int(s.rows), kernels.DigitTile), kernels.DigitShared(n))
	r.launch(&kernels.DigitsContract{
		RowsBank: a, Slab: s.first, Most: s.rows, Stored: stored, Gram: r.address(arrayGram), Cbar: coef, Part: part,
	}, blocks, kernels.ContractShared(kernels.DigitTile, r.data.Q))
}
