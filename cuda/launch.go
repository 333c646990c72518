package cuda

import "fmt"

// Module is a loaded image of kernels. It is valid until its context is closed.
type Module struct {
	context *Context
	shared  *module
}

// Load compiles PTX or loads a cubin. If the process has already loaded the image on the GPU, in
// any Context, it returns at once. If the driver rejects the image, the error has the first line of
// the compiler's log.
func (c *Context) Load(image []byte) (*Module, error) {
	m := &Module{context: c}
	err := c.call(func() (err error) {
		m.shared, err = c.card.load(c.session, image)
		return err
	}, "load an image of %d bytes", len(image))
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Function is a kernel.
type Function struct {
	context *Context
	name    string
	*function
}

// Function returns a kernel by its name.
func (m *Module) Function(name string) (*Function, error) {
	f := &Function{context: m.context, name: name}
	err := m.context.call(func() (err error) {
		f.function, err = m.context.card.find(m.context.session, m.shared, name)
		return err
	}, "find kernel %s", name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// maxGrid and maxBlock are the limits of every device since compute capability 3.0.
var (
	maxGrid  = [3]int{1<<31 - 1, 1<<16 - 1, 1<<16 - 1}
	maxBlock = [3]int{1024, 1024, 64}
)

// check returns an error for a geometry that the device does not support for the function.
func (f *Function) check(g Geometry) error {
	threads := 1
	for i, axis := range "xyz" {
		if g.Grid[i] < 1 || g.Grid[i] > maxGrid[i] {
			return fmt.Errorf("grid %c must be 1 to %d: %w", axis, maxGrid[i], errGeometry)
		}
		if g.Block[i] < 1 || g.Block[i] > maxBlock[i] {
			return fmt.Errorf("block %c must be 1 to %d: %w", axis, maxBlock[i], errGeometry)
		}
		threads *= g.Block[i]
	}
	if threads > f.limits.threads {
		return fmt.Errorf("%d threads in a block exceed the maximum of %d: %w", threads, f.limits.threads, errGeometry)
	}
	if most := f.context.device.SharedPerBlock - f.limits.shared; g.Shared < 0 || g.Shared > most {
		return fmt.Errorf("shared memory must be 0 to %d bytes: %w", most, errGeometry)
	}
	return nil
}

// Launch queues the kernel in the stream and does not wait. Each argument of the kernel is one
// 8-byte word, in order: an address, an integer, or the bits of a float64. A launch with more than
// 48 KiB of shared memory opts into it.
func (f *Function) Launch(g Geometry, s *Stream, args []uint64) error {
	return f.context.call(func() error { return f.launch(g, s, args) }, "launch %s (%v)", f.name, g)
}

func (f *Function) launch(g Geometry, s *Stream, args []uint64) (err error) {
	c := f.context
	if err := s.check(c); err != nil {
		return err
	}
	if err := f.check(g); err != nil {
		return err
	}
	if err := f.optIn(c.session, g.Shared); err != nil {
		return err
	}
	l := launch{context: c, stream: s, kernel: f.name, geometry: g}
	if s.took != nil {
		if l.from, err = s.event(); err != nil {
			return err
		}
	}
	if err := c.session.launch(f.handle, g, s.handle, args); err != nil {
		if l.from != nil {
			c.events = append(c.events, l.from)
		}
		return err
	}
	if s.took != nil {
		if l.to, err = s.event(); err != nil {
			c.events, l.from = append(c.events, l.from), nil
		}
	}
	c.card.remember(l) // it runs even if recording the event failed
	return err
}
