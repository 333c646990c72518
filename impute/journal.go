package impute

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"
)

// A journal holds the fills of single gaps one after the other, each with its key, in memory or in a file. What is added stays. Several
// goroutines may use it at once.
type journal struct {
	mu   sync.Mutex
	mem  []byte
	file *os.File // nil: in memory
	size int64
	temp bool // the file is this process's own
}

const (
	// journalMemory is the most bytes that stay in memory where no file is given.
	journalMemory = 1 << 24
	// frameBytes stand before a record: its length and its checksum. headBytes are those of the numbers before its arrays.
	frameBytes, headBytes = 8, keyBytes + 5*4 + 8
	keyBytes              = 32
)

// A key is a hash of all that a fill depends on.
type key [keyBytes]byte

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the record of a fill: length, checksum, key, the numbers of samples, draws, trials and other channels, limits, level,
// mean, sd and draws.
func (s *single) encode(k key) []byte {
	b := make([]byte, frameBytes, frameBytes+headBytes+8*(2+len(s.draws))*len(s.mean))
	b = append(b, k[:]...)
	for _, n := range []int{len(s.mean), len(s.draws), s.trials, s.others, int(s.limits)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.level))
	for _, v := range append([][]float64{s.mean, s.sd}, s.draws...) {
		b, _ = binary.Append(b, binary.LittleEndian, v) // numbers do not fail
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-frameBytes))
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[frameBytes:], castagnoli))
	return b
}

// errTorn is what a record is that its process did not finish.
var errTorn = errors.New("the record is not whole")

// decode returns the fill of a record without its frame.
func decode(b []byte) (k key, s *single, err error) {
	if len(b) < headBytes {
		return k, nil, errTorn
	}
	copy(k[:], b)
	b = b[keyBytes:]
	number := func(i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }
	n, draws := number(0), number(1)
	s = &single{trials: number(2), others: number(3), limits: limits(number(4)), level: math.Float64frombits(binary.LittleEndian.Uint64(b[20:]))}
	b = b[headBytes-keyBytes:]
	if rows := len(b) / 8 / max(1, n); n < 1 || rows != 2+draws || len(b) != 8*n*rows {
		return k, nil, errTorn
	}
	row := func() []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		b = b[8*n:]
		return v
	}
	s.mean, s.sd = row(), row()
	for range draws {
		s.draws = append(s.draws, row())
	}
	return k, s, nil
}

// add adds a record, and returns its place.
func (j *journal) add(record []byte) (at int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at = j.size
	if j.file == nil && len(j.mem)+len(record) > journalMemory {
		if j.file, err = os.CreateTemp("", "vssgp-*"); err != nil {
			return 0, fmt.Errorf("hold what is filled: %w", err)
		}
		j.temp = true
		os.Remove(j.file.Name()) // if the system allows it, an open file's space is freed however the process ends
		if _, err := j.file.Write(j.mem); err != nil {
			return 0, fmt.Errorf("hold what is filled: %w", err)
		}
		j.mem = nil
	}
	if j.file == nil {
		j.mem = append(j.mem, record...)
	} else if _, err := j.file.WriteAt(record, at); err != nil {
		return 0, err
	}
	j.size += int64(len(record))
	return at, nil
}

// get returns the fill at a place that add has returned or scan has found.
func (j *journal) get(at int64) (*single, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var src io.ReaderAt = j.file
	if j.file == nil {
		src = bytesAt(j.mem)
	}
	_, s, _, err := next(io.NewSectionReader(src, at, j.size-at), j.size-at)
	return s, err
}

// bytesAt reads from memory.
type bytesAt []byte

func (b bytesAt) ReadAt(p []byte, at int64) (int, error) {
	n := copy(p, b[min(at, int64(len(b))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// next reads a record of at most so many bytes.
func next(r io.Reader, most int64) (k key, s *single, size int64, err error) {
	var frame [frameBytes]byte
	if _, err := io.ReadFull(r, frame[:]); err != nil {
		return k, nil, 0, errTorn
	}
	size = frameBytes + int64(binary.LittleEndian.Uint32(frame[:]))
	if size > most {
		return k, nil, 0, errTorn
	}
	b := make([]byte, size-frameBytes)
	if _, err := io.ReadFull(r, b); err != nil || crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(frame[4:]) {
		return k, nil, 0, errTorn
	}
	k, s, err = decode(b)
	return k, s, size, err
}

// scan calls visit with each record of the file from offset at on, up to the end or to the first that is not whole, and cuts the file there.
func (j *journal) scan(at int64, visit func(k key, at int64, s *single)) error {
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(j.file, at, info.Size()-at), 1<<16)
	for {
		k, s, size, err := next(r, info.Size()-at)
		if err != nil {
			j.size = at
			return j.file.Truncate(at)
		}
		visit(k, at, s)
		at += size
	}
}

// close ends the use of the journal's file.
func (j *journal) close() {
	if j.file == nil {
		return
	}
	j.file.Close()
	if j.temp {
		os.Remove(j.file.Name()) // if the system did not allow it while the file was open
	}
}
