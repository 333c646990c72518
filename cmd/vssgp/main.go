// Command vssgp fits variational sparse spectrum Gaussian processes and fills
// gaps in recordings with them. `vssgp --help` lists the commands.
package main

import (
	"context"
	"os"
)

func main() {
	ctx, stop := untilSignal(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
