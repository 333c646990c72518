//go:build cudaemu

package gpu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/gpu/internal/emu"
	"github.com/vssgp/vssgp/internal/testkit"
)

// mutantShapes are small shapes that reach each barrier of the kernels: several stages, rows and
// tiles of both sizes, several segments, blocks without features.
var mutantShapes = []shape{
	{n: 150, m: 200, q: 1, d: 2, even: true},
	{n: 70, m: 70, q: 2, d: 1},
	{n: 300, m: 90, q: 1, d: 1, even: true, windows: 3},
	{n: 150, m: 200, q: 1, d: 2, windows: 10},
	{n: 150, m: 20, q: 1, d: 5, windows: 40}, // every other window has no features
	{n: 100, m: 40, q: 1, d: 1, even: true, tables: true},
	{n: 100, m: 9, q: 2, d: 1, tables: true},
}

// A barrierLine is a source line with a barrier.
type barrierLine struct {
	file string
	line int
	code string // the line and its context
}

var barrierCall = regexp.MustCompile(`^[^/]*\b(warp_)?barrier\(\)`)

// barriers returns all barriers of the kernels.
func barriers(t *testing.T) (all []barrierLine) {
	t.Helper()
	files := testkit.Must(filepath.Glob("../kernels/*.cu*"))(t)
	for _, file := range files {
		text := testkit.Must(os.ReadFile(file))(t)
		if filepath.Base(file) == "device.cuh" { // which defines them
			continue
		}
		lines := strings.Split(string(text), "\n")
		for i, code := range lines {
			if barrierCall.MatchString(code) {
				all = append(all, barrierLine{filepath.Base(file), i + 1, strings.Join(lines[max(0, i-1):i+2], "\n")})
			}
		}
	}
	return all
}

// TestMutants removes each barrier in turn, which must cause a race or a wrong result. Without
// VSSGP_MUTANTS=1 it removes every eighth barrier, and none in builds without the race detector.
func TestMutants(t *testing.T) {
	if !emu.Races {
		t.Skip("this build has no race detector: add the tag racekernels")
	}
	defer emu.LeaveOut("", 0)
	var problems []*problem
	for _, s := range mutantShapes {
		problems = append(problems, newProblem(s))
	}
	onEach(t, func(t *testing.T, ordinal int) {
		wants, err := answers(ordinal, problems, nil)
		if err != nil {
			t.Fatal("with all barriers:", err)
		}
		for i, p := range barriers(t) {
			if os.Getenv("VSSGP_MUTANTS") != "1" && i%8 != 0 {
				continue
			}
			emu.LeaveOut(p.file, p.line)
			_, err := answers(ordinal, problems, wants)
			switch {
			case emu.LeftOut() == 0:
				t.Errorf("%s:%d: no problem reaches this barrier", p.file, p.line)
			case err == nil:
				t.Errorf("%s:%d: no error without this barrier:\n%s", p.file, p.line, p.code)
			default:
				t.Logf("%s:%d: %v", p.file, p.line, err)
			}
		}
		emu.LeaveOut("", 0)
	})
}

// answers runs all methods of all problems until one fails or differs from wants, if given. A
// failed launch makes a backend unusable, so each call opens new ones.
func answers(ordinal int, problems []*problem, wants [][]answer) (all [][]answer, err error) {
	for _, p := range problems {
		if all, err = p.answers(ordinal, all, wants); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// answers appends a problem's answers to all.
func (p *problem) answers(ordinal int, all, wants [][]answer) ([][]answer, error) {
	b, err := Open(p.options(ordinal))
	if err != nil {
		return nil, err
	}
	defer b.Close()
	for _, m := range p.methods() {
		have, err := p.run(b, m)
		if err == nil && wants != nil {
			err = sameBits(wants[len(all)], have)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%d features, %s", p.m, m.name), err)
		}
		all = append(all, have)
	}
	return all, nil
}
