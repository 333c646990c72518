package backend

import "time"

// A Timing is the time of a kernel or of a part of a pass.
type Timing struct {
	Kernel string        // name in the PTX on a GPU; on the CPU "moments.features", "pullback.products", …
	Calls  int           // number of launches, or of runs of the part, which is usually once per tile
	Time   time.Duration // measured by the GPU, or summed over the CPU cores
}

// Observed returns a backend that calls begin with the method's name ("Open", "Moments", …,
// "Close") before Open of b and before each method of the rows except CanSolve. If begin
// returns a function, it is called when the method ends.
func Observed(b Backend, begin func(method string) (end func())) Backend {
	return &observed{b, begin}
}

type observed struct {
	Backend
	begin func(method string) (end func())
}

// around calls call between begin and end.
func (o *observed) around(method string, call func() error) error {
	if end := o.begin(method); end != nil {
		defer end()
	}
	return call()
}

func (o *observed) Open(d Data) (r Rows, err error) {
	err = o.around("Open", func() (err error) {
		r, err = o.Backend.Open(d)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &observedRows{r, o}, nil
}

type observedRows struct {
	Rows
	*observed
}

func (r *observedRows) Moments(dst *Moments, f *Features) error {
	return r.around("Moments", func() error { return r.Rows.Moments(dst, f) })
}

func (r *observedRows) Pullback(dst, f *Features, bar *Moments) error {
	return r.around("Pullback", func() error { return r.Rows.Pullback(dst, f, bar) })
}

func (r *observedRows) Factorized(dst *FactorizedSums, f *Features, w *Weights, rows []int) error {
	return r.around("Factorized", func() error { return r.Rows.Factorized(dst, f, w, rows) })
}

func (r *observedRows) Predict(dst *Prediction, f *Features, p *Posterior) error {
	return r.around("Predict", func() error { return r.Rows.Predict(dst, f, p) })
}

func (r *observedRows) Solve(dst *Solution, f *Features, lambda float64) error {
	return r.around("Solve", func() error { return r.Rows.Solve(dst, f, lambda) })
}

func (r *observedRows) PullbackSolved(dst, f *Features, bar SolvedAdjoint) error {
	return r.around("PullbackSolved", func() error { return r.Rows.PullbackSolved(dst, f, bar) })
}

func (r *observedRows) Close() error { return r.around("Close", r.Rows.Close) }
