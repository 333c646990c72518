package repocheck

import (
	"bytes"
	"strings"
	"testing"
)

// budgets are the maximum numbers of lines of hand-written Go in each top-level folder, of sources
// and of tests. Tests are _test.go files, internal/testkit and backend/backendtest. If you
// increase a number, give the reason in the commit message.
var budgets = map[string]struct{ source, tests int }{
	".":           {3530, 4600},
	".ci":         {80, 0},
	"audio":       {5530, 5055},
	"backend":     {1060, 2010},
	"bench":       {10025, 3830},
	"cmd":         {8960, 5665},
	"cpu":         {1530, 350},
	"cuda":        {2030, 980},
	"gpu":         {2620, 2890},
	"internal":    {22100, 17460},
	"kernels":     {670, 310},
	"ranks":       {1870, 940},
	"series":      {5550, 2055},
	"tensors":     {160, 200},
	"variational": {2030, 1690},
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
