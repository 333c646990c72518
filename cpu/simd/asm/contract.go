package main

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A pass is a kernel that goes through panels and through the rows of each, one
// vector of their lanes at a time: AVX-512 has all lanes in one, AVX2 goes
// through everything twice.
type pass struct {
	isa
	at      int                     // place of the vector in a panel's row, in bytes
	rows    map[string]reg.Register // ends of panels
	numbers map[string]reg.Register // ends of arrays of one number a row, or a place in one of several
	step    map[string]reg.Register // by how much such a place moves on, in bytes
	index   reg.Register            // 8·(row − n): one register counts and addresses
	perLane Mem
	lane    map[int]reg.VecVirtual // numbers of the lanes that are kept
	to      reg.Register           // where the panel's sums go
	sums    []reg.VecVirtual
}

// A loop is a kernel of one pass over panels (one at least, of one row at
// least). Of its parameters,
//
//	rows     are panels, stride rows from one to the next;
//	shared   is a panel that all go over;
//	numbers  are arrays of one number a row, the same for every panel, or of as
//	         many as the parameter that goes with them says;
//	lane     is laneRows rows of the lanes' own numbers for each panel;
//	sums     is addTo rows of sums for each panel;
//
// then come stride, n, the number of rows, and panels. keep loads what stays in
// registers, each visits one row, next moves on to the next panel.
type loop struct {
	name, doc     string
	rows, numbers []string
	strides       map[string]string // of numbers
	shared        string
	lane          string
	laneRows      int
	keepLanes     int // rows of lane that AVX-512 holds in registers
	addTo         int
	more          string // further parameters
	keep, each    func(p *pass)
	next          func(p *pass) // moves on what the loop does not know
}

// signature lists the parameters.
func (l loop) signature() string {
	pointers := slices.Concat(l.rows, l.numbers)
	for _, name := range []string{l.shared, l.lane} {
		if name != "" {
			pointers = append(pointers, name)
		}
	}
	if l.addTo > 0 {
		pointers = append([]string{"sums"}, pointers...)
	}
	return "func(" + strings.Join(pointers, ", ") + " *float64, " + l.more + "stride, n, panels int)"
}

// write writes the loop for one set.
func (l loop) write(s isa) {
	TEXT(l.name+s.name, NOSPLIT, l.signature())
	Pragma("noescape")
	Doc(l.name + s.name + " " + l.doc)
	for v := range s.vectors() {
		p := &pass{isa: s, at: v * s.width, lane: map[int]reg.VecVirtual{}}
		panel, again := fmt.Sprint("panel", v), fmt.Sprint("row", v)
		l.open(p)
		if l.keep != nil {
			l.keep(p)
		}
		stride, panels := Load(Param("stride"), GP64()), Load(Param("panels"), GP64())
		SHLQ(U8(6), stride)
		Label(panel)
		l.openPanel(p)
		Label(again)
		l.each(p)
		for _, name := range l.numbers {
			if by, ok := p.step[name]; ok {
				ADDQ(by, p.numbers[name])
			}
		}
		ADDQ(U32(8), p.index)
		JNZ(LabelRef(again))
		l.closePanel(p, stride)
		DECQ(panels)
		JNZ(LabelRef(panel))
	}
	VZEROUPPER()
	RET()
}

// open loads the parameters.
func (l loop) open(p *pass) {
	p.rows, p.numbers, p.step = map[string]reg.Register{}, map[string]reg.Register{}, map[string]reg.Register{}
	p.index = inBytes("n")
	rows := l.rows
	if l.shared != "" {
		rows = append(slices.Clone(rows), l.shared)
	}
	for _, name := range rows {
		p.rows[name] = Load(Param(name), GP64())
		LEAQ(Mem{Base: p.rows[name], Index: p.index, Scale: 8, Disp: p.at}, p.rows[name])
	}
	for _, name := range l.numbers {
		p.numbers[name] = Load(Param(name), GP64())
		if by, ok := l.strides[name]; ok {
			p.step[name] = inBytes(by)
		} else {
			ADDQ(p.index, p.numbers[name])
		}
	}
	if l.lane != "" {
		p.perLane = Mem{Base: Load(Param(l.lane), GP64()), Disp: p.at}
	}
	if l.addTo > 0 {
		p.to = Load(Param("sums"), GP64())
	}
}

// openPanel begins a panel: at row 0, with sums of 0.
func (l loop) openPanel(p *pass) {
	MOVQ(at("n"), p.index)
	SHLQ(U8(3), p.index)
	NEGQ(p.index)
	for _, name := range l.numbers {
		if _, ok := p.step[name]; ok {
			MOVQ(at(name), p.numbers[name])
		}
	}
	for i := range l.keepLanes {
		if p.width == 64 {
			p.lane[i] = p.load(p.perLane.Offset(i * row))
		}
	}
	p.sums = p.zeros(l.addTo)
}

// closePanel adds the sums to memory and moves on to the next panel.
func (l loop) closePanel(p *pass, stride reg.Register) {
	for i, v := range p.sums {
		m := Mem{Base: p.to, Disp: i*row + p.at}
		VADDPD(m, v, v)
		VMOVUPD(v, m)
	}
	if l.addTo > 0 {
		ADDQ(U32(l.addTo*row), p.to)
	}
	if l.lane != "" {
		ADDQ(U32(l.laneRows*row), p.perLane.Base)
	}
	for _, name := range l.rows {
		ADDQ(stride, p.rows[name])
	}
	if l.next != nil {
		l.next(p)
	}
}

// row is where the present row of a panel lies.
func (p *pass) row(name string) Mem { return Mem{Base: p.rows[name], Index: p.index, Scale: 8} }

// number is the present row's number, repeated.
func (p *pass) number(name string) reg.VecVirtual {
	if _, ok := p.step[name]; ok {
		return p.broadcast(Mem{Base: p.numbers[name]})
	}
	return p.broadcast(Mem{Base: p.numbers[name], Index: p.index, Scale: 1})
}

// of is item i of the lanes' own numbers: a register with AVX-512, memory with
// AVX2.
func (p *pass) of(i int) Op {
	if p.width == 32 {
		return p.perLane.Offset(i * row)
	}
	if _, ok := p.lane[i]; !ok {
		panic("lane numbers are loaded before the loop")
	}
	return p.lane[i]
}
