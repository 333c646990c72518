// Command vssgp fits variational sparse spectrum Gaussian processes and fills
// gaps in recordings with them. `vssgp --help` lists the commands.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/vssgp/vssgp/ranks"
)

// garbage is how much the collector may leave, in percent of what is in use.
// Nearly all of that is a few large arrays of numbers, which cost it no time to
// scan, and vssgp.Plan relies on it. If the user sets GOGC, that is used instead.
const garbage = 25

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	j, err := joinJob()
	switch {
	case err != nil && firstRank():
		fmt.Fprintln(os.Stderr, oneLine(err))
		fallthrough
	case err != nil:
		os.Exit(exitCode(err))
	case j != nil:
		ranks.ShareCores()
	}
	if j != nil && j.Rank() != 0 {
		os.Exit(j.serve(os.Stderr))
	}
	ctx, stop := untilSignal(context.Background())
	var code int
	if j != nil {
		code = j.lead(ctx, os.Args[1:], os.Stdout, os.Stderr)
	} else {
		code = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	stop()
	os.Exit(code)
}
