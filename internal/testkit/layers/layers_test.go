package layers

import (
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestLongestPrefixDecidesLayer checks that the longest prefix decides, and that prefixes end at a slash.
func TestLongestPrefixDecidesLayer(t *testing.T) {
	for folder, want := range map[string]string{
		".": "core", "kernels": "core", "kernels/internal/source": "dev", "internal/simd": "core", "internal/simd/asm": "dev",
		"internal/linalg/blocktri": "core", "audio/internal/declip": "lib", "cmd/vssgp/internal/audio": "app", "docs": "app", "bench/internal/paper": "dev",
		"new": "", "internal": "", "internal/new": "", "cpus": "", "cmd": "",
	} {
		testkit.Equal(t, Of(folder), want, folder)
	}
}
