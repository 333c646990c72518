package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal is a context that SIGINT or SIGTERM cancels. The second signal
// ends the process at once, as it would have without us.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
