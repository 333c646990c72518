package series

import (
	"fmt"
	"os"
)

func debug(a ...any) {
	if os.Getenv("CD") != "" {
		fmt.Fprintln(os.Stderr, a...)
	}
}
