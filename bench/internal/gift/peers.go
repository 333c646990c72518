package gift

import (
	"cmp"
	"errors"
	"math"

	"github.com/vssgp/vssgp/bench/internal/forecasts"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// PeerProblems returns the problems for bench/peers/series.py, in which x counts the rows. Missing values are left out.
func PeerProblems(t *Task, problems []Problem) (out []forecasts.Problem) {
	for i := range problems {
		p := &problems[i]
		q := forecasts.Problem{Key: peerKey(t, p), Season: t.period}
		for i, y := range p.Past {
			if !math.IsNaN(y) {
				q.X, q.Y = append(q.X, float64(i)), append(q.Y, y)
			}
		}
		for i := range p.Future {
			q.At = append(q.At, float64(len(p.Past)+i))
		}
		out = append(out, q)
	}
	return out
}

// peerKey returns the key of a problem in the peers' files.
func peerKey(t *Task, p *Problem) forecasts.Key {
	return forecasts.Key{Set: t.Name, Name: p.Series, Origin: len(p.Past)}
}

// Peer collects a peer's forecasts of all problems. Each is a Gaussian.
func Peer(t *Task, problems []Problem, all []forecasts.Forecast, name string) Method {
	found := map[forecasts.Key]*forecasts.Forecast{}
	for i := range all {
		if all[i].Method == name {
			found[all[i].Key] = &all[i]
		}
	}
	m := Method{Name: name}
	for i := range problems {
		p := &problems[i]
		f := Forecast{Err: errors.New("there is no forecast")}
		if peer := found[peerKey(t, p)]; peer != nil {
			m.Version, f.Seconds, f.Mean = cmp.Or(m.Version, peer.Version), peer.Seconds, peer.Mean
			if f.Err = errors.New(peer.Status); peer.Status == machine.OK {
				f.Quantiles, f.Err = peer.Quantiles(len(p.Future), levels)
			}
		}
		m.Forecasts = append(m.Forecasts, f)
	}
	return m
}
