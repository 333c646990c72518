package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"github.com/vssgp/vssgp/internal/optimise"
)

// Err is wrapped by every error about a checkpoint that a fit cannot go on from,
// which stays as it is: damaged, of other data, options or another build, no
// checkpoint at all, or in use by another process.
var Err = optimise.ErrState

// sealBytes end a checkpoint: its last tensor, the eight 32-bit words of the
// SHA-256 of everything before as float64.
const sealBytes = 8 * sha256.Size / 4

// sealer passes a file through and, at the end, puts the seal in the place of
// its last bytes.
type sealer struct {
	w    io.Writer
	hash hash.Hash
	tail []byte // the last bytes given, not yet passed on
}

func (s *sealer) Write(b []byte) (int, error) {
	s.tail = append(s.tail, b...)
	pass := max(0, len(s.tail)-sealBytes)
	s.hash.Write(s.tail[:pass])
	if _, err := s.w.Write(s.tail[:pass]); err != nil {
		return 0, err
	}
	s.tail = append(s.tail[:0], s.tail[pass:]...)
	return len(b), nil
}

func (s *sealer) seal() error {
	_, err := s.w.Write(sealOf(s.hash))
	return err
}

func sealOf(h hash.Hash) []byte {
	sum := h.Sum(nil)
	var seal []byte
	for ; len(sum) > 0; sum = sum[4:] {
		seal = appendFloat(seal, float64(binary.BigEndian.Uint32(sum)))
	}
	return seal
}

// sealed reports a file that does not end in its own seal.
func sealed(r io.ReaderAt, size int64) error {
	if size < sealBytes {
		return fmt.Errorf("it has %d bytes and is damaged, or no checkpoint: %w", size, Err)
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
		return fmt.Errorf("its checksum does not match its content; it is damaged, or no checkpoint: %w", Err)
	}
	return nil
}
