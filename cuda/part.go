package cuda

import "fmt"

// part is what a context has of a stream, an event or a module.
type part struct {
	context *Context
	kind    string // "stream"
	handle  handle
	closed  bool // touched on the thread only
}

// make has the driver make a part.
func (c *Context) make(what, kind string, call func() (handle, error)) (part, error) {
	p := part{context: c, kind: kind}
	err := c.call(what, func() (err error) {
		p.handle, err = call()
		return err
	})
	return p, err
}

// check finds a part that cannot be used with what belongs to c. It runs on the
// thread.
func (p *part) check(c *Context) error {
	switch {
	case p.context != c:
		return fmt.Errorf("the %s is of another context, on device %v", p.kind, p.context.device)
	case p.closed:
		return fmt.Errorf("the %s is %w", p.kind, errClosed)
	}
	return nil
}

// end has the driver close the part.
func (p *part) end(call func(handle) error) error {
	c := p.context
	return c.call("close "+p.kind, func() error {
		if err := p.check(c); err != nil {
			return err
		}
		p.closed = true
		return call(p.handle)
	})
}
