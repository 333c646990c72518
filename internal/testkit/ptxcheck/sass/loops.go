package sass

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/graph/flow"
	"gonum.org/v1/gonum/graph/simple"
)

// A Loop is a natural loop. It includes code that the compiler has moved beyond the function's
// end.
type Loop struct {
	Head   int   // the index of its first instruction
	Body   []int // the indices of all its instructions, in increasing order
	Parent int   // the index of the enclosing loop, or −1
	Depth  int   // 1 for an outermost loop
}

// Loops returns the function's loops, outer loops before inner ones, in the order of their heads.
// Loops with the same head are merged.
func (f *Function) Loops() []Loop {
	g := f.graph()
	tree := g.dominators()
	bodies := map[int]map[int]bool{}
	for b := range g.next {
		for _, head := range g.next[b] {
			if dominates(tree, head, b) {
				if bodies[head] == nil {
					bodies[head] = map[int]bool{head: true}
				}
				g.collect(bodies[head], b)
			}
		}
	}
	var loops []Loop
	for head, blocks := range bodies {
		l := Loop{Head: g.from[head], Parent: -1}
		for b := range blocks {
			for i := g.from[b]; i < g.from[b+1]; i++ {
				l.Body = append(l.Body, i)
			}
		}
		slices.Sort(l.Body)
		loops = append(loops, l)
	}
	slices.SortFunc(loops, func(a, b Loop) int {
		return cmp.Or(a.Head-b.Head, len(b.Body)-len(a.Body))
	})
	nest(loops)
	return loops
}

// nest sets each loop's parent, which is the smallest other loop that contains its head.
func nest(loops []Loop) {
	for i := range loops {
		for j := range loops {
			l, outer := &loops[i], &loops[j]
			_, inside := slices.BinarySearch(outer.Body, l.Head)
			if i != j && inside && (l.Parent < 0 || len(outer.Body) < len(loops[l.Parent].Body)) && len(outer.Body) > len(l.Body) {
				l.Parent = j
			}
		}
	}
	for i := range loops {
		for at := i; at >= 0; at = loops[at].Parent {
			loops[i].Depth++
		}
	}
}

// Own returns the indices of the loop's instructions that are not in an inner loop.
func Own(loops []Loop, i int) []int {
	var own []int
	inner := map[int]bool{}
	for _, l := range loops {
		if l.Parent == i {
			for _, at := range l.Body {
				inner[at] = true
			}
		}
	}
	for _, at := range loops[i].Body {
		if !inner[at] {
			own = append(own, at)
		}
	}
	return own
}

// A graph is the control-flow graph of the function's basic blocks.
type graph struct {
	from           []int // block b has the instructions from[b] … from[b+1]−1
	next, previous [][]int
}

// graph divides the code into basic blocks. The target of a BSYNC is the target of the BSSY with
// the same barrier.
func (f *Function) graph() *graph {
	starts := map[int]bool{0: true, len(f.Code): true}
	for i, x := range f.Code {
		if x.ends() {
			starts[i+1] = true
		}
		for _, t := range x.Targets {
			starts[t] = true
		}
	}
	g := &graph{}
	for s := range starts {
		g.from = append(g.from, s)
	}
	slices.Sort(g.from)
	blocks := len(g.from) - 1
	g.next, g.previous = make([][]int, blocks), make([][]int, blocks)
	seen := make([]bool, blocks)
	var visit func(b int, rejoin map[string]int)
	visit = func(b int, rejoin map[string]int) {
		if seen[b] {
			return
		}
		seen[b] = true
		after, rejoin := f.follow(g.from[b], g.from[b+1], rejoin)
		for _, at := range after {
			if n, ok := slices.BinarySearch(g.from, at); ok && n < blocks && !slices.Contains(g.next[b], n) {
				g.next[b] = append(g.next[b], n)
				g.previous[n] = append(g.previous[n], b)
			}
		}
		for _, n := range g.next[b] {
			visit(n, rejoin)
		}
	}
	if blocks > 0 {
		visit(0, map[string]int{})
	}
	return g
}

// ends reports whether the instruction ends a basic block. A CALL of a label is a branch, a CALL
// of a function is not.
func (x Instruction) ends() bool {
	switch x.Kind() {
	case "CALL":
		return strings.Contains(x.Args, "(.L_x_")
	case "BRA", "BRX", "JMP", "JMX", "BSYNC", "EXIT", "RET", "KILL":
		return true
	}
	return false
}

// follow returns the successors of a block, and the reconvergence points of the barriers after it.
func (f *Function) follow(from, to int, rejoin map[string]int) ([]int, map[string]int) {
	for i := from; i < to; i++ {
		x := f.Code[i]
		if x.Kind() == "BSSY" && len(x.Targets) == 1 {
			changed := map[string]int{x.register(): x.Targets[0]}
			for r, at := range rejoin {
				if r != x.register() {
					changed[r] = at
				}
			}
			rejoin = changed
		}
	}
	x := f.Code[to-1]
	if !x.ends() {
		return []int{to}, rejoin
	}
	after := slices.Clone(x.Targets)
	if at, ok := rejoin[x.register()]; ok && x.Kind() == "BSYNC" {
		after = append(after, at)
	}
	if x.conditional() {
		after = append(after, to)
	}
	return after, rejoin
}

// register returns the first argument, which for BSSY and BSYNC is the barrier.
func (x Instruction) register() string {
	r, _, _ := strings.Cut(x.Args, ",")
	return r
}

// conditional reports whether execution may continue with the next instruction: there is a guard,
// or a predicate or a set of threads among the arguments.
func (x Instruction) conditional() bool {
	return x.Guard != "" || x.Kind() == "BRA" && strings.Contains(x.Args, ",")
}

// collect adds the blocks from which b is reached without passing the head.
func (g *graph) collect(body map[int]bool, b int) {
	if body[b] {
		return
	}
	body[b] = true
	for _, p := range g.previous[b] {
		g.collect(body, p)
	}
}

// dominators returns the dominator tree of the blocks.
func (g *graph) dominators() flow.DominatorTree {
	d := simple.NewDirectedGraph()
	for b, all := range g.next {
		for _, n := range all {
			if n != b {
				d.SetEdge(simple.Edge{F: simple.Node(b), T: simple.Node(n)})
			}
		}
	}
	return flow.Dominators(simple.Node(0), d)
}

// dominates reports whether every path to b passes a.
func dominates(tree flow.DominatorTree, a, b int) bool {
	for b != a {
		next := tree.DominatorOf(int64(b))
		if next == nil {
			return false
		}
		b = int(next.ID())
	}
	return true
}
