package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/variational"
)

// TestWritesFollowInterval checks that writes follow the interval and take at most 5 % of the time.
func TestWritesFollowInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := &Writer{Setting: Setting{Every: 10 * time.Second}, next: began.Add(10 * time.Second)}
		due := func(seconds time.Duration) bool {
			time.Sleep(time.Until(began.Add(seconds * time.Second)))
			return w.Due()
		}
		if due(9) || !due(10) {
			t.Error("not due from 10 s on")
		}
		time.Sleep(time.Second)
		w.wrote(began.Add(10 * time.Second)) // a write of one second
		if due(29) || !due(30) {
			t.Error("after a write from 10 s to 11 s, not due from 30 s on")
		}
		w.wrote(time.Now()) // an instantaneous write
		if due(39) || !due(40) {
			t.Error("after a write in no time at 30 s, not due from 40 s on")
		}
	})
	// Times with a monotonic reading (shown by String as m=) are compared by it, so setting the
	// clock has no effect.
	if began := time.Now(); !strings.Contains(began.String(), "m=+") {
		t.Errorf("%v has no monotonic reading", began)
	}
}

// TestOpenLocksAndKeepsOtherFiles checks that an open file is locked for one process, and that files that are not
// checkpoints or cannot be resumed from are not changed.
func TestOpenLocksAndKeepsOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part")
	set := Setting{Path: path, Every: time.Hour, Resume: true, Made: []Trait{{"a", "b"}}}
	accept := func(*Snapshot) error { return nil }
	w, s, err := Open(set, accept)
	if err != nil || s != nil || w.Due() {
		t.Fatalf("without a file: %v, due %v, %v", s, w.Due(), err)
	}
	if _, _, err := Open(set, accept); !errors.Is(err, Err) || !strings.Contains(err.Error(), "in use by process") {
		t.Errorf("while it is open: %v; want Err and the process", err)
	}
	testkit.OK(t, w.Write(samples()["mini-batches"]))
	w.Close()
	was := testkit.Must(os.ReadFile(path))(t)
	w, s, err = Open(set, accept)
	if err != nil || s.State.Descent.Steps != 13 || len(s.Made) != 1 || s.Made[0] != set.Made[0] {
		t.Fatalf("resumed from its file: %+v, %v", s, err)
	}
	w.Close()
	foreign := errors.New("foreign")
	if _, _, err := Open(set, func(*Snapshot) error { return foreign }); !errors.Is(err, foreign) || !strings.Contains(err.Error(), path) {
		t.Errorf("of a rejected file: %v; want the reason and the path", err)
	}
	set.Resume = false
	w, s, err = Open(set, accept)
	if err != nil || s != nil {
		t.Fatalf("without resuming: %v, %v", s, err)
	}
	w.Close()
	if now, err := os.ReadFile(path); err != nil || string(now) != string(was) {
		t.Errorf("the file has changed although nothing was written (%v)", err)
	}
	testkit.OK(t, os.WriteFile(path, []byte("t,y\n1,2\n"), 0o666))
	if _, _, err := Open(set, accept); !errors.Is(err, Err) || !strings.Contains(err.Error(), "is not a checkpoint") {
		t.Errorf("of a table: %v; want Err", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != "t,y\n1,2\n" {
		t.Errorf("the table has become %q (%v)", now, err)
	}
}

// BenchmarkCheckpoint writes and reads the checkpoint of a fit of 40 000 features with all pairs
// of L-BFGS.
func BenchmarkCheckpoint(b *testing.B) {
	const m, pairs = 40_000, lbfgs.Memory
	p := variational.NewParams(m/2, 2, 1, 1)
	for _, t := range p.Tensors() {
		for i := range *t.Data {
			(*t.Data)[i] = 1 + float64(i%7)/8
		}
	}
	current, begun := fileOf(p), fileOf(p)
	array := func() []float64 { return make([]float64, 11*m/2) }
	st := &lbfgs.State{X: array(), G: array()}
	st.Pairs = pairs
	for range pairs {
		st.S, st.Y = append(st.S, array()), append(st.Y, array())
	}
	path := filepath.Join(b.TempDir(), "part")
	c := &Writer{Setting: Setting{Path: path}}
	s := &Snapshot{Progress: Progress{Starts: 1, Kept: -1}, Current: current, Begun: begun, State: &optimize.State{Ascent: st}}
	write := func(b *testing.B) {
		testkit.OK(b, c.Write(s))
	}
	write(b)
	info := testkit.Must(os.Stat(path))(b)
	b.Run("write", func(b *testing.B) {
		b.SetBytes(info.Size())
		b.ReportAllocs()
		for b.Loop() {
			write(b)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			f := testkit.Must(os.Open(path))(b)
			testkit.Must(read(f, info.Size()))(b)
			f.Close()
		}
	})
}
