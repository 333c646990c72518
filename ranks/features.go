package ranks

import (
	"github.com/vssgp/vssgp/spectral"
)

// shareFeatures gives every rank the features that its shares meet, and each
// share its own, a view: without windows all of them by a broadcast of
// M·(3Q + 4) numbers, with windows to each rank those of its own.
func (s *set) shareFeatures(f *spectral.Features) {
	if s.windows == 1 {
		s.broadcastFeatures(f)
		return
	}
	if s.Rank() == 0 {
		offset := f.Offsets()
		for to := 1; to < s.Size(); to++ {
			if first, end, any := s.windowsOf(to); any {
				s.sendFeatures(to, f, offset, first, end)
			}
		}
		if len(s.own) > 0 {
			first, end, _ := s.windowsOf(0)
			s.features = viewFeatures(f, offset, first, end, spectral.Windows{})
		}
	} else if len(s.own) > 0 {
		s.recvFeatures()
	}
	if len(s.own) == 0 {
		return
	}
	from, offset := s.own[0].first, s.features.Offsets()
	for _, one := range s.own {
		one.features = viewFeatures(s.features, offset, one.first-from, one.end-from, one.windows)
	}
}

func (s *set) broadcastFeatures(f *spectral.Features) {
	m := []float64{0}
	if f != nil {
		m[0] = float64(f.M)
	}
	s.broadcast(m)
	if s.Rank() != 0 {
		if s.features == nil || s.features.M != int(m[0]) {
			s.features = spectral.NewFeatures(int(m[0]), s.q)
		}
		f = s.features
	}
	s.features = f
	all := join(f)
	s.broadcast(all)
	split(f, all)
	for _, one := range s.own {
		if one.features = f; f.Windows.Count() == 1 && s.Rank() != 0 {
			f.Windows = one.windows
		}
	}
}

// windowsOf is the range of windows that a rank's shares meet, if it has any.
func (s *set) windowsOf(rank int) (first, end int, any bool) {
	lo, hi := sharesOf(s.shares, rank, s.Size())
	if lo == hi {
		return 0, 0, false
	}
	return s.cuts[lo].first, s.cuts[hi-1].end, true
}

// sendFeatures sends the features of windows [first, end): which of the windows
// have some, how many each of those, and the features.
func (s *set) sendFeatures(to int, f *spectral.Features, offset []int, first, end int) {
	lo, hi := first, end
	for lo < hi && offset[lo+1] == offset[first] {
		lo++
	}
	for lo < hi && offset[hi-1] == offset[end] {
		hi--
	}
	s.send(to, []float64{float64(lo - first), float64(hi - first), float64(end - first)})
	sizes := make([]int, hi-lo)
	for v := range sizes {
		sizes[v] = offset[lo+v+1] - offset[lo+v]
	}
	s.send(to, floats(sizes))
	s.send(to, join(viewFeatures(f, offset, first, end, spectral.Windows{})))
}

func (s *set) recvFeatures() {
	head := make([]float64, 3)
	s.recv(0, head)
	lo, sizes := int(head[0]), make([]float64, int(head[1])-int(head[0]))
	s.recv(0, sizes)
	var window []int
	for v, m := range ints(sizes) {
		for range m {
			window = append(window, lo+v)
		}
	}
	f := s.features
	if f == nil || f.M != len(window) {
		f = spectral.NewFeatures(len(window), s.q)
		s.features = f
	}
	f.Window, f.Windows = window, spectral.Windows{Center: make([]float64, int(head[2]))} // how many; which, each share knows
	all := make([]float64, countNumbers(f))
	s.recv(0, all)
	split(f, all)
}

// viewFeatures is the features of windows [first, end) as features of windows w
// alone, in f's memory.
func viewFeatures(f *spectral.Features, offset []int, first, end int, w spectral.Windows) *spectral.Features {
	lo, hi := offset[first], offset[end]
	q := f.Q
	if w.Center == nil {
		w.Center = make([]float64, end-first)
	}
	v := &spectral.Features{
		M: hi - lo, Q: q, Center: f.Center[lo*q : hi*q], Decay: f.Decay[lo*q : hi*q], Freq: f.Freq[lo*q : hi*q],
		Phase: f.Phase[lo:hi], Amp: f.Amp[lo:hi], Power: f.Power[lo:hi], Ripple: f.Ripple[lo:hi],
		Window: make([]int, hi-lo), Windows: w,
	}
	for k := range v.Window {
		v.Window[k] = f.Window[lo+k] - first
	}
	return v
}

func countNumbers(f *spectral.Features) int { return f.M * (3*f.Q + 4) }

// join is all arrays of f, one after the other.
func join(f *spectral.Features) []float64 {
	all := make([]float64, 0, countNumbers(f))
	for _, a := range f.Fields() {
		all = append(all, a.Data...)
	}
	return all
}

// split is join's inverse; it gives what is left.
func split(f *spectral.Features, all []float64) []float64 {
	for _, a := range f.Fields() {
		all = all[copy(a.Data, all):]
	}
	return all
}

// addAt adds all, the arrays of features from first on, to f.
func addAt(f *spectral.Features, all []float64, first, m int) {
	for i, a := range f.Fields() {
		each := 1
		if i < 3 {
			each = f.Q
		}
		to := a.Data[first*each : (first+m)*each]
		for j := range to {
			to[j] += all[j]
		}
		all = all[m*each:]
	}
}
