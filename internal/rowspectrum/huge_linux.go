package rowspectrum

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// huge asks for large pages for a table, which is read at random places: with small ones each wave misses the processor's table
// of addresses.
func huge(t []complex128) {
	const page = 2 << 20
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(t))), 16*len(t))
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(t))) % page
	if n := uintptr(len(b)); n >= skip+page {
		_ = unix.Madvise(b[skip:skip+(n-skip)/page*page], unix.MADV_HUGEPAGE) // an advice: without it all is as before
	}
}
