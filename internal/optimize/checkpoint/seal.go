package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/vssgp/vssgp/internal/optimize"
)

// Err is wrapped by every error about a checkpoint from which a fit cannot resume: it is
// damaged, belongs to other data, options or another build, is not a checkpoint, or is in use
// by another process. The file is not changed.
var Err = optimize.ErrState

// sealBytes is the size of the seal at the end of a checkpoint: its last tensor, with the eight
// 32-bit words of the SHA-256 of all previous bytes as float64.
const sealBytes = 8 * sha256.Size / 4

// sealing writes the output of write to w, with its last bytes replaced by the seal.
func sealing(w io.Writer, write func(w io.Writer) error) error {
	hash := sha256.New()
	if err := write(&lagging{w: io.MultiWriter(w, hash)}); err != nil {
		return err
	}
	_, err := w.Write(sealOf(hash))
	return err
}

// lagging writes all bytes except the last sealBytes.
type lagging struct {
	w    io.Writer
	tail []byte // not yet written
}

func (l *lagging) Write(b []byte) (int, error) {
	l.tail = append(l.tail, b...)
	pass := max(0, len(l.tail)-sealBytes)
	if _, err := l.w.Write(l.tail[:pass]); err != nil {
		return 0, err
	}
	l.tail = append(l.tail[:0], l.tail[pass:]...)
	return len(b), nil
}

func sealOf(h hash.Hash) []byte {
	sum := h.Sum(nil)
	var seal []byte
	for ; len(sum) > 0; sum = sum[4:] {
		seal = binary.LittleEndian.AppendUint64(seal, math.Float64bits(float64(binary.BigEndian.Uint32(sum))))
	}
	return seal
}

// sealed returns an error if the last bytes of a file are not its seal.
func sealed(r io.ReaderAt, size int64) error {
	if size < sealBytes {
		return fmt.Errorf("it has %d bytes and is damaged or not a checkpoint: %w", size, Err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, size-sealBytes)); err != nil {
		return err
	}
	var is [sealBytes]byte
	if _, err := r.ReadAt(is[:], size-sealBytes); err != nil && err != io.EOF {
		return err
	}
	if string(is[:]) != string(sealOf(h)) {
		return fmt.Errorf("its checksum does not match its content; it is damaged or not a checkpoint: %w", Err)
	}
	return nil
}
