package cuda

import (
	"errors"
	"fmt"
	"sync"
)

// A ledger has the pieces of memory that are held, by a key of the caller's.
type ledger struct {
	mu     sync.Mutex
	pieces map[any]piece
	sum    int64 // bytes
}

// piece is memory with how to give it back.
type piece struct {
	size    int64
	release func() error
}

func (l *ledger) add(key any, p piece) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pieces == nil {
		l.pieces = map[any]piece{}
	}
	l.pieces[key] = p
	l.sum += p.size
}

// drop takes a piece out, if it is there.
func (l *ledger) drop(key any) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, held := l.pieces[key]
	delete(l.pieces, key)
	l.sum -= p.size
	return held
}

func (l *ledger) has(key any) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, held := l.pieces[key]
	return held
}

// total is how many bytes are held, and in how many pieces.
func (l *ledger) total() (int64, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum, len(l.pieces)
}

// clear empties the ledger. It is an error if it held anything, which is given back if
// release says so.
func (l *ledger) clear(of string, release bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pieces) == 0 {
		return nil
	}
	var largest int64
	var errs []error
	for _, p := range l.pieces {
		largest = max(largest, p.size)
		if release {
			errs = append(errs, p.release())
		}
	}
	err := fmt.Errorf("%d bytes in %d pieces of %s were not freed (the largest of %d bytes)", l.sum, len(l.pieces), of, largest)
	l.pieces, l.sum = nil, 0
	return errors.Join(append([]error{err}, errs...)...)
}
