package fileio

import (
	"context"
	"io"
	"time"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// grace is the time that a waiting write has after its context has ended: enough for a reader that is active, too short to be noticed.
const grace = 500 * time.Millisecond

// Until returns a writer to w, which may be a pipe without a reader. After ctx has ended, all writes together have the time grace. A
// write that takes longer is abandoned, and it and all later writes fail with an error that wraps the error of ctx.
func Until(ctx context.Context, w io.Writer) io.Writer {
	return &until{ctx: ctx, w: w}
}

type until struct {
	ctx  context.Context
	end  time.Time // of grace; zero until ctx has ended
	w    io.Writer
	copy []byte
	err  error
}

// Write writes a copy of b, because an abandoned write may read it later.
func (u *until) Write(b []byte) (n int, err error) {
	if u.ctx.Done() == nil {
		return u.w.Write(b)
	}
	const most = 1 << 16
	for len(b) > 0 && u.err == nil {
		part := append(u.copy[:0], b[:min(len(b), most)]...)
		var wrote int
		wrote, u.err = await(u, func() (int, error) { return u.w.Write(part) }, func(int) {})
		n, b, u.copy = n+wrote, b[wrote:], part
	}
	return n, u.err
}

// await returns the result of fn, or gives up when grace ends. If fn returns a value after that, late is called with it.
func await[T any](u *until, fn func() (T, error), late func(T)) (T, error) {
	if u.ctx.Done() == nil {
		return fn()
	}
	var value T
	var err error
	done := make(chan struct{})
	go func() {
		value, err = fn()
		close(done)
	}()
	select {
	case <-done:
		return value, err
	case <-u.ctx.Done():
	}
	if u.end.IsZero() {
		u.end = time.Now().Add(grace)
	}
	select {
	case <-done:
		return value, err
	case <-time.After(time.Until(u.end)):
	}
	go func() {
		if <-done; err == nil {
			late(value)
		}
	}()
	var none T
	return none, fault.Errorf(u.ctx.Err(), "no process reads it")
}
