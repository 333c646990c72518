package atomicfile

import (
	"context"
	"io"
	"time"
)

// Grace is how long a write that waits may go on once its context has ended: enough for a reader that is there, too short to be noticed.
const Grace = 500 * time.Millisecond

// Until passes writes on to w, which may be a pipe without a reader. Once ctx has ended, all writes together have Grace; the one that
// still waits then is left behind and fails, as do those after it, with an error that wraps ctx's.
func Until(ctx context.Context, w io.Writer) io.Writer {
	return &until{patience: &patience{ctx: ctx}, w: w}
}

type until struct {
	*patience
	w    io.Writer
	room []byte
	err  error
}

// Write copies what it passes on, because a write that is left behind may read it later.
func (u *until) Write(b []byte) (n int, err error) {
	if u.ctx.Done() == nil {
		return u.w.Write(b)
	}
	const most = 1 << 16
	for len(b) > 0 && u.err == nil {
		part := append(u.room[:0], b[:min(len(b), most)]...)
		var wrote int
		wrote, u.err = await(u.patience, func() (int, error) { return u.w.Write(part) }, nil)
		n, b, u.room = n+wrote, b[wrote:], part
	}
	return n, u.err
}

// patience is the rest of Grace.
type patience struct {
	ctx context.Context
	end time.Time // zero as long as ctx has not ended
}

// unread is the error of a wait that was given up.
type unread struct{ cause error }

func (u *unread) Error() string { return "nothing reads it" }

func (u *unread) Unwrap() error { return u.cause }

// await is fn's result, or an *unread if patience ends first; late gets a value that fn returns after that.
func await[T any](p *patience, fn func() (T, error), late func(T)) (T, error) {
	if p.ctx.Done() == nil {
		return fn()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := fn()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-p.ctx.Done():
	}
	if p.end.IsZero() {
		p.end = time.Now().Add(Grace)
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(time.Until(p.end)):
	}
	if late != nil {
		go func() {
			if r := <-done; r.err == nil {
				late(r.value)
			}
		}()
	}
	var none T
	return none, &unread{p.ctx.Err()}
}
