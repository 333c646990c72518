package baseline

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/safetensors"
)

// sparseMethods make a SparseModel each, of little work.
var sparseMethods = map[string]Method{
	"vfe":  SPGP{Options: Options{Iterations: 5}, Inducing: 7},
	"fitc": SPGP{Options: Options{Iterations: 5, Covariance: Covariance{L: 2, Q: 2, Variance: []float64{1, 1}, Lengthscale: []float64{1, 2, 3, 4}, Frequency: []float64{0, 0, 1, 2}}}, Inducing: 7, Bound: FITC},
	"svgp": SVGP{Options: Options{Iterations: 5}, Inducing: 7, Batch: 20},
}

func fitSparse(t testing.TB, m Method) *SparseModel {
	t.Helper()
	fit, err := m.Fit(bg, noisyData(60, 2, 3, 1))
	if err != nil {
		t.Fatal(err)
	}
	return fit.Model.(*SparseModel)
}

func written(t testing.TB, s *SparseModel) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSparseFile: a model that is read predicts the same bits, and has the same names.
func TestSparseFile(t *testing.T) {
	at := mat.NewDense(9, 2, noisyData(9, 2, 1, 3).X)
	for name, method := range sparseMethods {
		s := fitSparse(t, method)
		s.XNames, s.YNames, s.Notes = []string{"a", "b"}, []string{"u", "v", "w"}, map[string]string{"axes": "[]"}
		file := written(t, s)
		again, err := ReadSparse(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := s.Predict(at)
		if err != nil {
			t.Fatal(err)
		}
		if have, err := again.Predict(at); err != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("%s: %v; the model that was read predicts other bits", name, err)
		}
		if !reflect.DeepEqual([]any{again.XNames, again.YNames, again.Notes, again.Locations(), again.NoiseSD(), again.Covariance()},
			[]any{s.XNames, s.YNames, s.Notes, s.Locations(), s.NoiseSD(), s.Covariance()}) {
			t.Errorf("%s: names, notes or hyper-parameters have changed", name)
		}
		if !bytes.Equal(written(t, again), file) {
			t.Errorf("%s: written again, it is another file", name)
		}
	}
}

// TestSparseFileFactors: the factors are read, not made again, and have nothing above their diagonals.
func TestSparseFileFactors(t *testing.T) {
	s, at := fitSparse(t, sparseMethods["vfe"]), mat.NewDense(1, 2, nil)
	want, err := s.Predict(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{nameWhitening, nameFactor} {
		file := written(t, s)
		f, err := safetensors.Read(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		factor := f.Tensors[name].Data
		for i := range 7 {
			for j := i + 1; j < 7; j++ {
				if factor[i*7+j] != 0 {
					t.Fatalf("%s[%d,%d] is %v, want 0", name, i, j, factor[i*7+j])
				}
			}
			factor[i*7+i] *= 2
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		other, err := ReadSparse(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if have, err := other.Predict(at); err != nil || reflect.DeepEqual(have, want) {
			t.Errorf("%s: %v; another factor predicts the same", name, err)
		}
	}
}

// TestSparseFileMalformed: whatever is wrong with a file is said, with its name.
func TestSparseFileMalformed(t *testing.T) {
	good := written(t, fitSparse(t, sparseMethods["fitc"]))
	for want, spoil := range map[string]func(f *safetensors.File){
		"its format is":                func(f *safetensors.File) { f.Metadata["format"] = "vssgp/1" },
		"metadata \"y.scale\"":         func(f *safetensors.File) { f.Metadata["y.scale"] = "1" },
		"y.scale[1] is -1":             func(f *safetensors.File) { f.Metadata["y.scale"] = "[1,-1,1]" },
		"y.offset has 1":               func(f *safetensors.File) { f.Metadata["y.offset"] = "[1]" },
		"x.names has 1":                func(f *safetensors.File) { f.Metadata["x.names"] = `["a"]` },
		"y.names has 1":                func(f *safetensors.File) { f.Metadata["y.names"] = `["a"]` },
		"kernel.variance[0] is 0":      func(f *safetensors.File) { f.Tensors["kernel.variance"].Data[0] = 0 },
		"kernel.lengthscale has":       func(f *safetensors.File) { delete(f.Tensors, "kernel.lengthscale") },
		"shape [2 0] and":              func(f *safetensors.File) { f.Tensors["kernel.lengthscale"] = safetensors.Tensor{Shape: []int{2, 0}} },
		"kernel.lengthscale[1] is -1":  func(f *safetensors.File) { f.Tensors["kernel.lengthscale"].Data[1] = -1 },
		"kernel.frequency[1] is NaN":   func(f *safetensors.File) { f.Tensors["kernel.frequency"].Data[1] = math.NaN() },
		"noise.variance[0] is -1":      func(f *safetensors.File) { f.Tensors["noise.variance"].Data[0] = -1 },
		"inducing.location[0] is +Inf": func(f *safetensors.File) { f.Tensors["inducing.location"].Data[0] = math.Inf(1) },
		"coefficient.mean has":         func(f *safetensors.File) { f.Tensors["coefficient.mean"] = f.Tensors["kernel.lengthscale"] },
		"coefficient.mean[4] is NaN":   func(f *safetensors.File) { f.Tensors["coefficient.mean"].Data[4] = math.NaN() },
		"kernel.variance adds up": func(f *safetensors.File) {
			f.Tensors["kernel.variance"].Data[0], f.Tensors["kernel.variance"].Data[1] = math.MaxFloat64, math.MaxFloat64
		},
		"inducing.factor has":           func(f *safetensors.File) { delete(f.Tensors, "inducing.factor") },
		"inducing.factor[7] is NaN":     func(f *safetensors.File) { f.Tensors["inducing.factor"].Data[7] = math.NaN() },
		"inducing.factor[1,1] is 0,":    func(f *safetensors.File) { f.Tensors["inducing.factor"].Data[8] = 0 },
		"coefficient.factor[7] is NaN":  func(f *safetensors.File) { f.Tensors["coefficient.factor"].Data[7] = math.NaN() },
		"coefficient.factor[1,1] is -1": func(f *safetensors.File) { f.Tensors["coefficient.factor"].Data[8] = -1 },
	} {
		f, err := safetensors.Read(bytes.NewReader(good), int64(len(good)))
		if err != nil {
			t.Fatal(err)
		}
		spoil(f)
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSparse(bytes.NewReader(b.Bytes()), int64(b.Len())); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := ReadSparse(strings.NewReader("none"), 4); !errors.Is(err, ErrFile) {
		t.Errorf("no safetensors: %v", err)
	}
}

// TestSparseJoint: the joint covariance is that of the dense formula, and on its diagonal Predict's.
func TestSparseJoint(t *testing.T) {
	for _, bound := range bounds {
		sparseCases(t, 50, 6, func(t *testing.T, p *problem, h hyper) {
			c := newCollapsed(p, bound, 6)
			value(t, c, h)
			model := c.model().(*SparseModel)
			const rows = jointRows + 22 // more than are computed at a time
			at := noisyData(rows, p.q, 1, 99).X
			x := mat.NewDense(rows, p.q, at)
			mean, cov, err := model.PredictJoint(x)
			if err != nil {
				t.Fatal(err)
			}
			single, err := model.Predict(x)
			if err != nil {
				t.Fatal(err)
			}
			truth := c.denseJoint(h, at)
			for n := range rows {
				for e, s := range p.out.Scale {
					near(t, "mean", mean.At(n, e), single.Mean[n*p.d+e], 0)
					near(t, "variance", cov.At(n*p.d+e, n*p.d+e)+single.Noise[e], single.Cov[(n*p.d+e)*p.d+e], 1e-9)
					for n2 := range rows {
						near(t, "covariance", cov.At(n*p.d+e, n2*p.d+e)/(s*s), truth.At(n, n2), 1e-7)
						if p.d > 1 && cov.At(n*p.d+e, n2*p.d+(1-e)) != 0 {
							t.Fatalf("outputs covary")
						}
					}
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	s := fitSparse(t, sparseMethods["vfe"])
	if _, _, err := s.PredictJointContext(ctx, mat.NewDense(1, 2, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: error %v", err)
	}
	if _, _, err := s.PredictJoint(mat.NewDense(1<<15, 2, nil)); !errors.Is(err, vssgp.ErrData) {
		t.Errorf("too many rows: error %v, want ErrData", err)
	}
}

// denseJoint is K_** − K_*u (K_uu⁻¹ − A⁻¹) K_u* with A = K_uu + K_uf Λ⁻¹ K_fu, for one output of the scaled y.
func (c *collapsed) denseJoint(h hyper, x []float64) *mat.Dense {
	kuu, kuf, kus, out := c.cov(h, h.z, h.z), c.cov(h, h.z, c.x), c.cov(h, h.z, x), c.cov(h, x, x)
	m, n := kuf.Dims()
	for i := range m {
		kuu.Set(i, i, kuu.At(i, i)+inducingJitter*h.cov.diagonal())
	}
	var q, explained, a, weighted, both mat.Dense
	solved := func(a, b *mat.Dense) *mat.Dense {
		var s mat.Dense
		if err := s.Solve(a, b); err != nil {
			panic(err)
		}
		return &s
	}
	q.Mul(kuf.T(), solved(kuu, kuf))
	weighted.CloneFrom(kuf)
	for j := range n {
		lambda := h.noise
		if c.bound == FITC {
			lambda += h.cov.diagonal() - q.At(j, j)
		}
		for i := range m {
			weighted.Set(i, j, kuf.At(i, j)/lambda)
		}
	}
	a.Mul(&weighted, kuf.T())
	a.Add(&a, kuu)
	explained.Sub(solved(kuu, kus), solved(&a, kus))
	both.Mul(kus.T(), &explained)
	out.Sub(out, &both)
	return out
}

func FuzzReadSparse(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range sparseMethods {
		file := written(f, fitSparse(f, m))
		f.Add(file)
		file = bytes.Clone(file)
		file[r.IntN(len(file))]++
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ReadSparse(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if !errors.Is(err, ErrFile) {
				t.Fatalf("%v; want ErrFile", err)
			}
			return
		}
		q, _, _ := s.Sizes()
		if _, err := s.Predict(mat.NewDense(1, q, nil)); err != nil {
			t.Fatal(err)
		}
		s.Covariance()
		s.NoiseSD()
	})
}

// TestConcurrentUse: several goroutines use one model at a time, and get what one alone gets. The race detector watches.
func TestConcurrentUse(t *testing.T) {
	m := fitSparse(t, sparseMethods["vfe"])
	q, _, _ := m.Sizes()
	want, err := m.Predict(mat.NewDense(1, q, nil))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			p, err := m.Predict(mat.NewDense(1, q, nil))
			if err != nil || !slices.Equal(p.Mean, want.Mean) {
				t.Errorf("Predict: %v, or other numbers", err)
			}
			if err := m.Write(io.Discard); err != nil {
				t.Error(err)
			}
			m.Covariance()
			m.NoiseSD()
		})
	}
	all.Wait()
}
