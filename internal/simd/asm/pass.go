package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A pass writes a kernel that processes panels (at least one, of at least one row). A vector of
// AVX-512 contains all lanes of a row; AVX2 processes each panel twice. A parameter's name defines
// its layout in memory:
//
//	cos, sin, bar, theta, quad   panels, stride rows from one to the next
//	acc                          a panel that all panels add to
//	x, y, gate, inv, res, t, t2  one number per row for all panels; x has q and y has d if the kernel has such a parameter
//	par, lane, w, steps, starts  rows of per-lane numbers for each panel
//	sums                         rows of sums for each panel
type pass struct {
	*keeper
	variant
	names []string
	base  map[string]reg.Register // addresses of the arrays; for arrays with one or eight numbers per row, their ends
	step  map[string]reg.Register // bytes between rows of q or d numbers
	index reg.Register            // 8·(row − n): one register is both counter and offset
	place int                     // offset of the vector in a panel's row, in bytes
	ahead int                     // distance from the counter's row to the row being processed
	sums  []reg.VecVirtual
}

// Names of parameters.
var (
	ofPanels = []string{"cos", "sin", "bar", "theta", "quad", "acc"}
	ofRows   = []string{"x", "y", "gate", "inv", "res", "t", "t2"}
	perInput = map[string]string{"x": "q", "y": "d"}
	perPanel = map[string]int{"par": parInput + 1, "lane": laneRows, "w": 1, "steps": stepRows, "starts": startRows, "sums": 0} // rows
)

// Rows of the per-lane numbers.
const (
	laneAmp    = iota // A1
	laneRipple        // 4·A2·∂/∂E[φ²]
	laneCenter        // z
	laneSquare        // α: A1·∂/∂E[φ] = α·cos + β·residual
	laneWeight        // β
	laneRows
)

// Positions of an input's numbers among a panel's parameters, by rows. The first row contains the
// phases.
const (
	parCenter = 1 + iota
	parDecay
	parFreq
	parInput = 3 // rows for each further input
)

// Rows of a panel's numbers for steps along evenly spaced rows.
const (
	stepCos   = iota // of 2ωδ
	stepSin          // of 2ωδ
	stepBend         // κ − 1, κ = exp(−4Pδ²)
	stepHalf         // √κ − 1
	stepSlope        // 4Pδ
	stepRows
)

// startRows is the number of rows of numbers for the start of a panel's two chains.
const startRows = 8

// A variant is a kernel under a condition on parameters, some of which it then omits.
type variant struct {
	when, suffix, without string
	rows, panels          int // of tiles
}

func newPass(s isa, c *constants, v variant, names []string) *pass {
	k := &keeper{isa: s, constants: c, kept: map[string]reg.VecVirtual{}}
	return &pass{keeper: k, variant: v, names: names, base: map[string]reg.Register{}, step: map[string]reg.Register{}}
}

// has reports whether the kernel has a parameter.
func (p *pass) has(name string) bool { return slices.Contains(p.names, name) }

// open loads the parameters.
func (p *pass) open() {
	p.index = inBytes("n")
	for _, name := range p.names {
		_, own := perPanel[name]
		ofPanel, ofRow := slices.Contains(ofPanels, name), slices.Contains(ofRows, name)
		if !own && !ofPanel && !ofRow {
			continue
		}
		r := Load(Param(name), GP64())
		p.base[name] = r
		switch by := perInput[name]; {
		case ofPanel:
			LEAQ(Mem{Base: r, Index: p.index, Scale: 8}, r)
		case ofRow && p.has(by):
			p.step[name] = inBytes(by)
		case ofRow:
			ADDQ(p.index, r)
		}
	}
}

// eachPanel writes body for every panel and returns the number of panels left.
func (p *pass) eachPanel(body func()) (left reg.Register) {
	left = Load(Param("panels"), GP64())
	Label("panel")
	body()
	var stride reg.Register
	if p.has("stride") {
		stride = inBytes("stride")
		SHLQ(U8(3), stride)
	}
	for _, name := range p.names {
		base := p.base[name]
		rows, own := perPanel[name]
		switch {
		case name == "par" && p.has("q"):
			q := Load(Param("q"), GP64())
			IMUL3Q(U32(parInput*row), q, q)
			LEAQ(Mem{Base: base, Index: q, Scale: 1, Disp: row}, base)
		case name == "sums":
			ADDQ(U32(len(p.sums)*row), base)
		case own:
			ADDQ(U32(rows*row), base)
		case name != "acc" && slices.Contains(ofPanels, name):
			ADDQ(stride, base)
		}
	}
	DECQ(left)
	JNZ(LabelRef("panel"))
	return left
}

// halves writes body for every vector of a row.
func (p *pass) halves(body func()) {
	for v := range p.vectors() {
		p.place = v * p.width
		body()
	}
	p.place = 0
}

// first moves to a panel's first row.
func (p *pass) first() {
	MOVQ(at("n"), p.index)
	SHLQ(U8(3), p.index)
	NEGQ(p.index)
	for _, name := range p.names {
		if p.step[name] != nil {
			MOVQ(at(name), p.base[name])
		}
	}
}

// loop writes a kernel that visits the rows in order and adds to the given number of sums of each
// panel. preload, if not nil, loads numbers that remain in registers.
func (p *pass) loop(sums int, preload, visit func()) {
	p.open()
	p.eachPanel(func() {
		p.halves(func() {
			p.first()
			if preload != nil {
				preload()
			}
			p.sums = p.zeros(sums)
			again := fmt.Sprint("row", p.place)
			Label(again)
			visit()
			for _, name := range p.names {
				if by := p.step[name]; by != nil {
					ADDQ(by, p.base[name])
				}
			}
			ADDQ(U32(8), p.index)
			JNZ(LabelRef(again))
			p.addSums()
		})
	})
}

// addSums adds the sums to memory.
func (p *pass) addSums() {
	for i, v := range p.sums {
		m := p.own("sums", i)
		VADDPD(m, v, v)
		VMOVUPD(v, m)
	}
}

// row returns the address of a panel's row.
func (p *pass) row(name string) Mem {
	return Mem{Base: p.base[name], Index: p.index, Scale: 8, Disp: p.ahead*row + p.place}
}

// read loads a panel's row.
func (p *pass) read(name string) reg.VecVirtual { return p.load(p.row(name)) }

// number returns the row's number, repeated.
func (p *pass) number(name string) reg.VecVirtual { return p.broadcast(p.item(name)) }

// item returns the address of the row's number.
func (p *pass) item(name string) Mem {
	if p.step[name] != nil {
		return Mem{Base: p.base[name]}
	}
	return Mem{Base: p.base[name], Index: p.index, Scale: 1, Disp: 8 * p.ahead}
}

// by writes an instruction whose first operand is the row's number, repeated.
func (p *pass) by(name string, plain, repeat func(...Op), ops ...Op) {
	if p.width == 64 {
		repeat(append([]Op{p.item(name)}, ops...)...)
	} else {
		plain(append([]Op{p.number(name)}, ops...)...)
	}
}

// own returns the address of row i of the per-lane numbers.
func (p *pass) own(name string, i int) Mem { return Mem{Base: p.base[name], Disp: i*row + p.place} }

// preload loads rows of the per-lane numbers into registers, only with AVX-512: AVX2 has too few
// registers.
func (p *pass) preload(name string, rows ...int) {
	for _, i := range rows {
		if p.width == 64 {
			p.kept[fmt.Sprint(name, i)] = p.load(p.own(name, i))
		}
	}
}

// of returns row i of the per-lane numbers, in a register if loaded by preload, otherwise in memory.
func (p *pass) of(name string, i int) Op {
	if v, ok := p.kept[fmt.Sprint(name, i)]; ok {
		return v
	}
	return p.own(name, i)
}
