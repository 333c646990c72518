package cuda

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// card represents the process's single (primary) context on a GPU, with its modules and their
// functions. All Contexts on the GPU share it.
//
// It is kept until the process ends, even after the last Context is closed: creating it takes the
// driver some tenths of a second, loading the image takes milliseconds to seconds, and programs
// (and tests) close a Context and open the next. It is only destroyed after a fault, when its last
// user has closed it.
type card struct {
	ordinal int
	primary primary

	mu       sync.Mutex // guards the fields below
	users    int
	lost     error
	launches []launch // that may still be running, in order
	launched int      // number of launches

	loading sync.Mutex // guards modules and their functions: compiling may take seconds
	modules map[[sha256.Size]byte]*module
}

// launch is a launch that may still be running. If its stream measures times, it has an event
// before it and one after it, unless recording failed.
type launch struct {
	number          int // from 1
	context, stream any // the *Context and the *Stream, as keys
	kernel          string
	geometry        Geometry
	from, to        handle
}

// module is a loaded image with the functions found so far.
type module struct {
	handle    handle
	functions map[string]*function
}

// function is a kernel.
type function struct {
	handle handle
	limits limits

	mu    sync.Mutex // guards opted
	opted int        // maximum dynamic shared memory of launches
}

// inUse contains the opened GPUs by ordinal.
var inUse = struct {
	sync.Mutex
	cards map[int]*card
}{cards: map[int]*card{}}

// join adds a user to a GPU.
func join(ordinal int) (*card, error) {
	inUse.Lock()
	defer inUse.Unlock()
	k := inUse.cards[ordinal]
	if k == nil {
		p, err := newDriver().retain(ordinal)
		if err != nil {
			return nil, err
		}
		k = &card{ordinal: ordinal, primary: p, modules: map[[sha256.Size]byte]*module{}}
		inUse.cards[ordinal] = k
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lost != nil {
		return nil, fmt.Errorf("close its %d open contexts first: %w", k.users, k.lost)
	}
	k.users++
	return k, nil
}

// leave removes a user. When the last user leaves, a lost GPU is destroyed, and the next join
// creates another.
func (k *card) leave() error {
	inUse.Lock()
	defer inUse.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users--; k.users > 0 || k.lost == nil {
		return nil
	}
	delete(inUse.cards, k.ordinal)
	return unlessFault(k.primary.discard())
}

// failure returns why the GPU is lost, or nil if it is not.
func (k *card) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost
}

// lose marks the GPU as lost because of a fault, unless it already is, and returns the reason.
func (k *card) lose(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lost == nil {
		k.lost = fmt.Errorf("%w: %w%s", ErrLost, err, k.suspects())
	}
	return k.lost
}

// remember adds a launch.
func (k *card) remember(l launch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.launched++
	l.number = k.launched
	k.launches = append(k.launches, l)
}

// last returns the number of the last launch.
func (k *card) last() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.launched
}

// forget removes these launches and returns them.
func (k *card) forget(which func(launch) bool) (gone []launch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.launches = slices.DeleteFunc(k.launches, func(l launch) bool {
		if !which(l) {
			return false
		}
		gone = append(gone, l)
		return true
	})
	return gone
}

// maxNamed is the maximum number of launches in a fault's message.
const maxNamed = 16

// suspects returns the end of a fault's message. A fault is only reported at the next
// synchronization, so any launch on the GPU since the last one may be its cause.
func (k *card) suspects() string {
	if len(k.launches) == 0 {
		return ""
	}
	var names []string
	for _, l := range k.launches[max(0, len(k.launches)-maxNamed):] {
		names = append(names, fmt.Sprintf("%s (%v)", l.kernel, l.geometry))
	}
	var before string
	if n := len(k.launches) - maxNamed; n > 0 {
		before = fmt.Sprintf("%d and then ", n)
	}
	return "; launched since the last synchronization: " + before + strings.Join(names, ", ")
}

// load returns an image's module, loading it the first time.
func (k *card) load(s session, image []byte) (*module, error) {
	if len(image) == 0 {
		return nil, fmt.Errorf("expected PTX or a cubin: %w", errRange)
	}
	key := sha256.Sum256(image)
	k.loading.Lock()
	defer k.loading.Unlock()
	if m := k.modules[key]; m != nil {
		return m, nil
	}
	h, err := s.load(image)
	if err != nil {
		return nil, err
	}
	m := &module{h, map[string]*function{}}
	k.modules[key] = m
	return m, nil
}

// find returns a function, looking it up the first time.
func (k *card) find(s session, m *module, name string) (*function, error) {
	k.loading.Lock()
	defer k.loading.Unlock()
	if f := m.functions[name]; f != nil {
		return f, nil
	}
	h, l, err := s.function(m.handle, name)
	if err != nil {
		return nil, err
	}
	f := &function{handle: h, limits: l, opted: plainShared - l.shared}
	m.functions[name] = f
	return f, nil
}

// optIn allows launches to use this much dynamic shared memory. It never reduces the amount that
// another Context requested.
func (f *function) optIn(s session, bytes int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if bytes <= f.opted {
		return nil
	}
	if err := s.optIn(f.handle, bytes); err != nil {
		return fmt.Errorf("opting into shared memory: %w", err)
	}
	f.opted = bytes
	return nil
}
