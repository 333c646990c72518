//go:build linux

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/simd"
)

// TestInstructionSet: a set that there is not is refused before any work, by every command that does some.
func TestInstructionSet(t *testing.T) {
	dir := clashFolder(t)
	t.Chdir(dir)
	before := listing(t, dir)
	for _, line := range []string{
		"fit data.csv -o new.st", "info m.safetensors", "evaluate m.safetensors data.csv", "predict m.safetensors data.csv -o new.csv", "devices",
		"impute cut0.wav --gap 600:620 -o new.wav",
	} {
		c := process(t, strings.Fields(line)...)
		c.Env = append(c.Env, simd.Variable+"=bogus")
		code, text := exit(t, c)
		if code != cli.ExitMistake || strings.Count(text, "\n") != 1 || !strings.Contains(text, simd.Variable) || !strings.Contains(text, `"bogus" is not an instruction set; want one of go`) {
			t.Errorf("vssgp %s: exit %d, %q; want %d and what would be right", line, code, text, cli.ExitMistake)
		}
	}
	if after := listing(t, dir); !same(before, after) {
		t.Errorf("left %v", after)
	}
}

// TestResumeInstructionSet: a checkpoint is gone on from with the instruction set that it was made with, chosen or the processor's
// best, and refused with another.
func TestResumeInstructionSet(t *testing.T) {
	sets := simd.Sets()
	if len(sets) < 2 {
		t.Skip("this processor has one instruction set")
	}
	source := testkit.Put(t, t.TempDir(), "data.csv", waves(60))
	best, other := sets[len(sets)-1].String(), sets[0].String()
	resumed := func(dir, set string) (int, string) {
		c := process(t, "fit", source, "--y", "y1,y2", "--iterations", "20", "--every", "1ms", "--resume", "-o", filepath.Join(dir, "model"), "--checkpoint", filepath.Join(dir, "part"))
		if set != "" {
			c.Env = append(c.Env, simd.Variable+"="+set)
		}
		return exit(t, c)
	}
	for _, c := range []struct{ made, with string }{{"", best}, {best, ""}, {other, other}, {"", other}, {other, ""}} {
		dir := t.TempDir()
		if code, text := resumed(dir, c.made); code != 0 {
			t.Fatal(text)
		}
		is, here := c.made, c.with
		if is == "" {
			is = best
		}
		if here == "" {
			here = best
		}
		code, text := resumed(dir, c.with)
		want := "instruction set (VSSGP_SIMD): in the checkpoint " + is + ", here " + here
		if is == here && code != 0 || is != here && (code != cli.ExitMistake || !strings.Contains(text, want)) {
			t.Errorf("made with %q, gone on from with %q: exit %d, %q", c.made, c.with, code, text)
		}
	}
}
