package source

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Image is the path of an architecture's packed PTX in the folder of the
// sources.
func Image(arch int) string { return fmt.Sprintf("ptx/sm_%d.ptx.gz", arch) }

// Pack compresses PTX, which is some megabytes long. Its result may change with
// the release of Go, so hashes are taken of what Unpack returns.
func Pack(ptx []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(ptx); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// Unpack undoes Pack.
func Unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
