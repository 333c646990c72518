// Package regression has the problems of `bench regression`: regression on one input, scored between the rows, in gaps
// and beyond the rows. It also has the methods of this program, the scores and their tables.
package regression

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
)

// The halves of the seeds.
const (
	Dev   = "dev"   // even seeds, for tuning
	Judge = "judge" // odd seeds, for reporting
)

// Halves lists both halves.
var Halves = []string{Dev, Judge}

// Half returns the half of a seed.
func Half(seed int) string { return Halves[seed%2] }

// Seed returns seed number i of a half.
func Seed(half string, i int) int { return 2*i + slices.Index(Halves, half) }

// The names of places.
const (
	In     = "in"     // at the rows, or for real data at held-out rows
	Gap    = "gap"    // in gaps of the rows
	Beyond = "beyond" // after the last row
)

// PlaceNames lists the names of places in the order of the tables.
var PlaceNames = []string{In, Gap, Beyond}

// A Problem has rows to fit and places to predict.
type Problem struct {
	Kind   string `json:"kind"`
	Seed   int    `json:"seed"`
	Half   string `json:"half"`
	Family string `json:"family,omitempty"` // kernel of the drawn function: rbf, matern32 or ou; "": another function
	// Latent is true if the places have values of the function without noise. Then the standard deviation of the
	// function is scored, and otherwise the standard deviation of an observation.
	Latent bool      `json:"latent"`
	Digest string    `json:"data"` // of all numbers
	X      []float64 `json:"-"`    // [N], increasing
	Y      []float64 `json:"-"`    // [N]
	Places []Place   `json:"places"`
}

// A Place is a set of points whose predictions are scored together.
type Place struct {
	Name string    `json:"name"`
	X    []float64 `json:"-"` // increasing
	Y    []float64 `json:"-"` // values to predict
}

// maxPoints is the maximum number of points of a place. A place with more points is thinned evenly.
const maxPoints = 2000

// add adds a place unless it has no points.
func (p *Problem) add(name string, x, y []float64) {
	if len(x) == 0 {
		return
	}
	place := Place{Name: name}
	step := (len(x) + maxPoints - 1) / maxPoints
	for i := 0; i < len(x); i += step {
		place.X, place.Y = append(place.X, x[i]), append(place.Y, y[i])
	}
	p.Places = append(p.Places, place)
}

// digest returns a hash of all numbers of the problem.
func (p *Problem) digest() string {
	h := fnv.New64a()
	var b [8]byte
	put := func(values []float64) {
		for _, v := range values {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
			h.Write(b[:])
		}
	}
	put(p.X)
	put(p.Y)
	for _, at := range p.Places {
		put(at.X)
		put(at.Y)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// A Kind is a family of problems that differ by their seed.
type Kind struct {
	Name string
	Long bool // 10⁵ rows or more
	source
}

// A source builds the rows and places of a problem.
type source interface {
	// build fills in the rows, the places, Family and Latent. data is the folder of data.
	build(p *Problem, random *rand.Rand, data string) error
}

// Kinds returns all kinds in the order of the tables.
func Kinds() []Kind { return slices.Concat(madeKinds, realKinds, longKinds) }

// Names returns the names of all kinds.
func Names() (names []string) {
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// Select returns the kinds with the given names.
func Select(names []string) []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return !slices.Contains(names, k.Name) })
}

// Problem returns the problem of a seed, which is the same on every run. data is the folder of the data that are not in
// the repository. The error wraps ErrMissing if a file is not there.
func (k *Kind) Problem(seed int, data string) (*Problem, error) {
	h := fnv.New64a()
	h.Write([]byte(k.Name))
	p := &Problem{Kind: k.Name, Seed: seed, Half: Half(seed)}
	err := k.build(p, rand.New(rand.NewPCG(uint64(seed), h.Sum64())), data)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrMissing, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	p.Digest = p.digest()
	return p, nil
}

// ErrMissing is wrapped by the error about a file of data that does not exist.
var ErrMissing = errors.New("missing data")
