package cuda

import (
	"fmt"
	"strings"
)

// Module is a loaded image of kernels.
type Module struct {
	context *Context
	handle  handle
	closed  bool // touched on the thread only
}

// Load compiles PTX, or takes a cubin. Where the driver refuses the image, the
// error is a *LoadError with the compiler's log.
func (c *Context) Load(image []byte) (*Module, error) {
	m := &Module{context: c}
	err := c.call(fmt.Sprintf("load an image of %d bytes", len(image)), func() (err error) {
		if len(image) == 0 {
			return fmt.Errorf("want PTX or a cubin: %w", errRange)
		}
		m.handle, err = c.session.load(image)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Close unloads the image; its functions cannot be launched any more.
func (m *Module) Close() error {
	c := m.context
	return c.call("close module", func() error {
		if m.closed {
			return fmt.Errorf("the module is %w", errClosed)
		}
		m.closed = true
		return c.session.unload(m.handle)
	})
}

// Function is a kernel.
type Function struct {
	module *Module
	name   string
	handle handle
	limits limits
	opted  int // dynamic shared memory that launches may have; on the thread only
}

// plainShared is how much shared memory a block has without opting in.
const plainShared = 48 << 10

// Function finds a kernel by its name.
func (m *Module) Function(name string) (*Function, error) {
	c := m.context
	f := &Function{module: m, name: name}
	err := c.call("find kernel "+name, func() (err error) {
		if m.closed {
			return fmt.Errorf("the module is %w", errClosed)
		}
		f.handle, f.limits, err = c.session.function(m.handle, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.opted = plainShared - f.limits.shared
	return f, nil
}

// Geometry is how many blocks of how many threads a launch has, and how many
// bytes of dynamic shared memory each block.
type Geometry struct {
	Grid, Block [3]int // blocks, and threads of each, along x, y and z; ≥ 1
	Shared      int    // bytes for each block, besides what the kernel declares
}

// String is "grid 132×1×1, block 256×1×1, 49152 bytes shared".
func (g Geometry) String() string {
	return fmt.Sprintf("grid %d×%d×%d, block %d×%d×%d, %d bytes shared",
		g.Grid[0], g.Grid[1], g.Grid[2], g.Block[0], g.Block[1], g.Block[2], g.Shared)
}

// mostGrid and mostBlock are the same on every device since compute
// capability 3.0.
var (
	mostGrid  = [3]int{1<<31 - 1, 1<<16 - 1, 1<<16 - 1}
	mostBlock = [3]int{1024, 1024, 64}
)

// check finds a geometry that the function cannot have on the device.
func (f *Function) check(g Geometry) error {
	d := f.module.context.device
	threads := 1
	for i, axis := range "xyz" {
		if g.Grid[i] < 1 || g.Grid[i] > mostGrid[i] {
			return fmt.Errorf("grid %c: want 1 to %d: %w", axis, mostGrid[i], errGeometry)
		}
		if g.Block[i] < 1 || g.Block[i] > mostBlock[i] {
			return fmt.Errorf("block %c: want 1 to %d: %w", axis, mostBlock[i], errGeometry)
		}
		threads *= g.Block[i]
	}
	if threads > f.limits.threads {
		return fmt.Errorf("%d threads in a block: want at most %d: %w", threads, f.limits.threads, errGeometry)
	}
	if most := d.SharedPerBlock - f.limits.shared; g.Shared < 0 || g.Shared > most {
		return fmt.Errorf("shared memory: want 0 to %d bytes: %w", most, errGeometry)
	}
	return nil
}

// Launch gives the kernel to the stream and does not wait. Each argument of the
// kernel is one 8-byte word, in order: an address, an integer, or the bits of
// a float64. More than 48 KiB of shared memory is opted into here.
func (f *Function) Launch(g Geometry, s *Stream, args []uint64) error {
	c := f.module.context
	err := c.Do(func() error { return f.launch(g, s, args) })
	if err != nil {
		return fmt.Errorf("cuda: launch %s (%v) on device %v: %w", f.name, g, c.device, err)
	}
	return nil
}

// launch runs on the thread.
func (f *Function) launch(g Geometry, s *Stream, args []uint64) error {
	c := f.module.context
	if c.lost != nil {
		return c.lost
	}
	if f.module.closed {
		return fmt.Errorf("the module is %w", errClosed)
	}
	if err := s.check(c); err != nil {
		return err
	}
	if err := f.check(g); err != nil {
		return err
	}
	if g.Shared > f.opted {
		if err := c.session.optIn(f.handle, g.Shared); err != nil {
			return fmt.Errorf("opting into shared memory: %w", err)
		}
		f.opted = g.Shared
	}
	err := c.session.launch(f.handle, g, s.handle, args)
	if fault(err) {
		c.lost = fmt.Errorf("%w: %w%s", ErrLost, err, c.pending.text())
		return c.lost
	}
	if err == nil {
		c.pending.add(launch{s, f.name, g})
	}
	return err
}

// launch is what is remembered of one.
type launch struct {
	stream *Stream
	name   string
	g      Geometry
}

// launches are those that may still be running. A fault shows only at the next
// synchronisation, so these are the kernels that may have caused it. Only the
// last few are kept.
type launches struct {
	last    []launch
	dropped int
}

const mostRemembered = 16

func (l *launches) add(one launch) {
	if len(l.last) == mostRemembered {
		copy(l.last, l.last[1:])
		l.last = l.last[:mostRemembered-1]
		l.dropped++
	}
	l.last = append(l.last, one)
}

// done forgets those of a stream that is idle.
func (l *launches) done(s *Stream) {
	kept := l.last[:0]
	for _, one := range l.last {
		if one.stream != s {
			kept = append(kept, one)
		}
	}
	clear(l.last[len(kept):])
	l.last = kept
	if len(kept) == 0 {
		l.dropped = 0
	}
}

// text is the end of a fault's message.
func (l *launches) text() string {
	if len(l.last) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("; launched since the last synchronisation: ")
	if l.dropped > 0 {
		fmt.Fprintf(&b, "%d and then ", l.dropped)
	}
	for i, one := range l.last {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%v)", one.name, one.g)
	}
	return b.String()
}
