package repocheck

import (
	"bytes"
	"strings"
	"testing"
)

// budgets are the most lines of hand-written Go of each top-level folder, without tests and of tests.
// Tests are _test.go files, internal/testkit and backend/backendtest. Raise a number only with the reason
// in the commit's message.
var budgets = map[string]struct{ source, tests int }{
	".":           {3400, 4550},
	".ci":         {80, 0},
	"audio":       {7100, 5600},
	"backend":     {1100, 1900},
	"bench":       {10200, 5400},
	"cmd":         {7500, 5850},
	"cpu":         {1550, 520},
	"cuda":        {2100, 1150},
	"gpu":         {2500, 3300},
	"internal":    {22500, 20500},
	"kernels":     {650, 350},
	"ranks":       {1900, 1100},
	"series":      {4650, 2100},
	"tensors":     {170, 270},
	"variational": {2050, 2300},
}

func TestSize(t *testing.T) {
	sizes := map[string]struct{ source, tests int }{}
	for _, path := range sources(t, ".go") {
		b := []byte(readText(t, path))
		if bytes.Contains(b[:min(len(b), 400)], []byte("Code generated")) {
			continue
		}
		folder, rest, ok := strings.Cut(path, "/")
		if !ok {
			folder, rest = ".", folder
		}
		n, size := bytes.Count(b, []byte("\n")), sizes[folder]
		if strings.HasSuffix(rest, "_test.go") || strings.HasPrefix(rest, "testkit/") || strings.HasPrefix(rest, "backendtest/") {
			size.tests += n
		} else {
			size.source += n
		}
		sizes[folder] = size
	}
	for folder, size := range sizes {
		most, ok := budgets[folder]
		if !ok {
			t.Errorf("%s has no budget of lines", folder)
		}
		if size.source > most.source || size.tests > most.tests {
			t.Errorf("%s has %d lines and %d of tests; its budget is %d and %d", folder, size.source, size.tests, most.source, most.tests)
		}
		t.Logf("%-12s %6d %6d", folder, size.source, size.tests)
	}
}
