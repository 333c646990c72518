package atomicfile

import (
	"io/fs"
	"os"
)

// A Place is where a path leads, however it is spelled: symbolic links are followed.
type Place struct {
	folder fs.FileInfo // what the file is in, or would be in
	base   string      // its name there
	file   fs.FileInfo // what is there; nil: nothing
}

// PlaceOf is the place that a write to path goes to. Errors wrap ErrTarget.
func PlaceOf(path string) (Place, error) {
	j := job{path: path}
	err := j.resolve()
	return j.Place, err
}

// PlaceOfOpen is the place of an open file.
func PlaceOfOpen(f *os.File) (Place, error) {
	info, err := f.Stat()
	return Place{file: info}, err
}

// Same reports whether both are one file: by folder and name, or as hard links to it. A character device, such as /dev/null or a
// terminal, is nobody's in particular and never the same.
func (p Place) Same(q Place) bool {
	if p.file != nil && q.file != nil {
		return os.SameFile(p.file, q.file) && p.file.Mode()&fs.ModeCharDevice == 0
	}
	return p.file == nil && q.file == nil && p.base == q.base && os.SameFile(p.folder, q.folder)
}
