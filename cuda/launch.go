package cuda

import "fmt"

// Module is a loaded image of kernels.
type Module struct{ part }

// Load compiles PTX, or takes a cubin. Where the driver refuses the image, the
// error has the first line of the compiler's log.
func (c *Context) Load(image []byte) (*Module, error) {
	p, err := c.make(fmt.Sprintf("load an image of %d bytes", len(image)), "module", func() (handle, error) {
		if len(image) == 0 {
			return nil, fmt.Errorf("want PTX or a cubin: %w", errRange)
		}
		return c.session.load(image)
	})
	if err != nil {
		return nil, err
	}
	return &Module{p}, nil
}

// Close unloads the image; its functions cannot be launched any more.
func (m *Module) Close() error { return m.end(m.context.session.unload) }

// Function is a kernel.
type Function struct {
	module *Module
	name   string
	handle handle
	limits limits
	opted  int // dynamic shared memory that launches may have; on the thread only
}

// Function finds a kernel by its name.
func (m *Module) Function(name string) (*Function, error) {
	c := m.context
	f := &Function{module: m, name: name}
	err := c.call("find kernel "+name, func() (err error) {
		if err := m.check(c); err != nil {
			return err
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
	err := c.do(func() error { return f.launch(g, s, args) })
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
	if err := f.module.check(c); err != nil {
		return err
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
