//go:build slow

package main

import (
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestPerformanceCommands runs every command of bench performance once.
func TestPerformanceCommands(t *testing.T) {
	dir := t.TempDir()
	t.Chdir("..")
	build := testkit.Must(buildCommand(t.Context(), dir))(t)
	testkit.OK(t, performanceFiles(t.Context(), dir))
	for _, command := range performanceCommands {
		if seconds, err := timeIn(dir)(t.Context(), build, command); err != nil || seconds <= 0 {
			t.Errorf("vssgp %s: %v s, %v", command, seconds, err)
		}
	}
}
