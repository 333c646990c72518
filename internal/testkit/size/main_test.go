package main

import (
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestMeasure measures a small module.
func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	testkit.Put(t, dir, "a.go", "// Package a has a comment.\npackage a\n\nfunc F(x int) int { // double\n\treturn 2 * x\n}\n")
	testkit.Put(t, dir, "a_test.go", "package a\n\n")
	testkit.Put(t, dir, "k.cu", "int x;\n")
	testkit.Put(t, dir, "p.py", "a\nb\n")
	testkit.Put(t, dir+"/api", "vssgp.txt", "pkg vssgp, func F(x int) int\npkg vssgp/cpu, func G()\n")
	sizes := testkit.Must(measure(dir))(t)
	testkit.Equal(t, *sizes["."], size{packages: 1, lines: 6, tests: 2, tokens: 15, code: 4, names: 1, cuda: 1, python: 2})
	testkit.Equal(t, sizes["cpu"].names, 1)
}
