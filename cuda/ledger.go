package cuda

import (
	"errors"
	"fmt"
	"sync"
)

// A ledger contains the allocations that are not freed, by a key of the caller.
type ledger struct {
	mu     sync.Mutex
	pieces map[any]piece
	sum    int64 // bytes
}

// piece is an allocation with the function that frees it.
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

// drop removes an allocation and reports whether it existed.
func (l *ledger) drop(key any) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, allocated := l.pieces[key]
	delete(l.pieces, key)
	l.sum -= p.size
	return allocated
}

func (l *ledger) has(key any) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, allocated := l.pieces[key]
	return allocated
}

// total returns the bytes of all allocations and their number.
func (l *ledger) total() (int64, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum, len(l.pieces)
}

// clear empties the ledger and, if release is true, frees the allocations. It returns an error if
// there were any.
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
	err := fmt.Errorf("%d bytes in %d allocations of %s were not freed (the largest has %d bytes)", l.sum, len(l.pieces), of, largest)
	l.pieces, l.sum = nil, 0
	return errors.Join(append([]error{err}, errs...)...)
}
