package gpu

import (
	"math"

	"github.com/vssgp/vssgp/kernels"
)

// A kernel is what a launch must know of one besides its arguments.
type kernel struct {
	name          string
	block, shared int
}

// generated is what package kernels generates for each kernel.
type generated interface {
	Name() string
	Block() int
}

func kernelOf(g generated, shared int) kernel { return kernel{g.Name(), g.Block(), shared} }

// tiled picks the kernel of a tile; its block holds two stages of panels.
func tiled(tile int, small, large generated) kernel {
	if tile == kernels.LargeTile {
		return kernelOf(large, kernels.TileShared(tile))
	}
	return kernelOf(small, kernels.TileShared(tile))
}

// The kernels of mixed precision; shared memory is as their sources say.
var (
	gramMixed     = kernelOf(kernels.MomentsGramMixed{}, 31744)
	columnsMixed  = kernelOf(kernels.MomentsColumnsMixed{}, 512)
	digitsMixed   = kernelOf(kernels.PullbackDigits{}, 0)
	pullbackMixed = kernelOf(kernels.PullbackMixed{}, 41728)
	residualMixed = kernelOf(kernels.FactorisedResidualMixed{}, 2304)
	gradientMixed = kernelOf(kernels.FactorisedGradientMixed{}, 1536)
)

// gramKernel, columnKernel and pullbackKernel are those of a precision. The mixed
// ones hold digits of features instead of panels (moments_mixed.cu,
// pullback_mixed.cu).
func gramKernel(tile int, mixed bool) kernel {
	if mixed {
		return gramMixed
	}
	return tiled(tile, kernels.MomentsGram64{}, kernels.MomentsGram128{})
}

func columnKernel(mixed bool) kernel {
	if mixed {
		return columnsMixed
	}
	return kernelOf(kernels.MomentsColumns{}, 0)
}

func pullbackKernel(tile int, mixed bool) kernel {
	if mixed {
		return pullbackMixed
	}
	return tiled(tile, kernels.Pullback64{}, kernels.Pullback128{})
}

// arguments are what every pass kernel begins with: rows, features, the tables
// of stretches and of jobs. Addresses of rows may lie before their array, where
// it holds later rows only: rows are counted from the first of all.
type arguments struct {
	x, y, gate, even                                    uint64
	delta                                               float64
	q, d                                                int
	center, decay, turn, phase, amp, power, ripple, rot uint64
	stretches, jobs                                     uint64
}

// words are the arguments as a launch takes them, and those that follow.
func (a *arguments) words(more ...uint64) []uint64 {
	return append([]uint64{
		a.x, a.y, a.gate, a.even, math.Float64bits(a.delta), uint64(a.q), uint64(a.d),
		a.center, a.decay, a.turn, a.phase, a.amp, a.power, a.ripple, a.rot,
		a.stretches, a.jobs,
	}, more...)
}

// Shared memory, in bytes, of the kernels that stage rows there: x and two gates
// of each row, besides the sums of a block's threads or outputs of each row
// (rows.cuh, factorised.cu, predict.cu).
const gradientRows = 64

func residualKernel(q int, mixed bool) kernel {
	if mixed {
		return residualMixed
	}
	g := kernels.FactorisedResidual{}
	return kernelOf(g, 8*(g.Block()+kernels.ResidualRows*(q+2)))
}

func gradientKernel(q int, mixed bool) kernel {
	if mixed {
		return gradientMixed
	}
	return kernelOf(kernels.FactorisedGradient{}, 8*gradientRows*(q+2+outputGroup))
}

func predictRows(q int) kernel {
	g := kernels.PredictRows{}
	return kernelOf(g, 8*(g.Block()+kernels.ResidualRows*(q+2)))
}
