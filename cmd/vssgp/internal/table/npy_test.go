package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// npy returns a file with a version, a header and data.
func npy(major byte, header string, data ...byte) []byte {
	b := []byte{0x93, 'N', 'U', 'M', 'P', 'Y', major, 0}
	if major == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), data...)
}

// dict returns a header.
func dict(descr, fortran, shape string) string {
	return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }          \n"
}

// f8 encodes values as little-endian bytes.
func f8(values ...float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// readNPY reads the table in a file.
func readNPY(file []byte) (*Matrix, error) { return readArray(bytes.NewReader(file), int64(len(file))) }

func readArray(r io.ReaderAt, size int64) (*Matrix, error) {
	f := In(r, size, "f.npy")
	f.npy = true // even if the magic bytes are wrong
	return f.matrix()
}

// A breaking file returns an error after some bytes.
type breaking struct {
	content []byte
	err     error
}

func (b breaking) ReadAt(to []byte, at int64) (int, error) {
	n := copy(to, b.content[min(at, int64(len(b.content))):])
	if n < len(to) {
		return n, b.err
	}
	return n, nil
}

func TestReadNPY(t *testing.T) {
	x := []string{"x0", "x1", "x2"}
	six := []float64{1, 2, 3, 4, 5, 6}
	for name, c := range map[string]struct {
		file  []byte
		names []string
		data  []float64
	}{
		"1-D":               {npy(1, dict("<f8", "False", "(2,)"), f8(1, 2)...), x[:1], []float64{1, 2}},
		"2-D":               {npy(1, dict("<f8", "False", "(2, 3)"), f8(six...)...), x, six},
		"Fortran":           {npy(1, dict("<f8", "True", "(2, 3)"), f8(1, 4, 2, 5, 3, 6)...), x, six},
		"Fortran 1-D":       {npy(1, dict("<f8", "True", "(2,)"), f8(1, 2)...), x[:1], []float64{1, 2}},
		"version 2":         {npy(2, dict("<f8", "False", "(1, 1)"), f8(1)...), x[:1], []float64{1}},
		"version 3":         {npy(3, dict("<f8", "False", "(1, 1)"), f8(1)...), x[:1], []float64{1}},
		"other order":       {npy(1, `{"shape":(1L,),"fortran_order":False,"descr":"<f8"}`, f8(1)...), x[:1], []float64{1}},
		">f8":               {npy(1, dict(">f8", "False", "(1,)"), 0xbf, 0xf0, 0, 0, 0, 0, 0, 0), x[:1], []float64{-1}},
		"<f4":               {npy(1, dict("<f4", "False", "(1,)"), 0, 0, 0x80, 0xbf), x[:1], []float64{-1}},
		">f4":               {npy(1, dict(">f4", "False", "(1,)"), 0xbf, 0x80, 0, 0), x[:1], []float64{-1}},
		"|i1":               {npy(1, dict("|i1", "False", "(2,)"), 0xfe, 3), x[:1], []float64{-2, 3}},
		"|u1":               {npy(1, dict("|u1", "False", "(2,)"), 0xfe, 3), x[:1], []float64{254, 3}},
		"<i2":               {npy(1, dict("<i2", "False", "(1,)"), 0xfe, 0xff), x[:1], []float64{-2}},
		">i2":               {npy(1, dict(">i2", "False", "(1,)"), 0xff, 0xfe), x[:1], []float64{-2}},
		"<u2":               {npy(1, dict("<u2", "False", "(1,)"), 0xfe, 0xff), x[:1], []float64{65534}},
		"<i4":               {npy(1, dict("<i4", "False", "(1,)"), 0xfe, 0xff, 0xff, 0xff), x[:1], []float64{-2}},
		">u4":               {npy(1, dict(">u4", "False", "(1,)"), 0xff, 0xff, 0xff, 0xfe), x[:1], []float64{4294967294}},
		"<i8":               {npy(1, dict("<i8", "False", "(1,)"), 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), x[:1], []float64{-2}},
		"<u8 of many bits":  {npy(1, dict("<u8", "False", "(1,)"), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), x[:1], []float64{1 << 64}},
		"more than a block": {npy(1, dict("|u1", "False", "(70000, 1)"), make([]byte, 70000)...), x[:1], make([]float64, 70000)},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, testkit.Must(readNPY(c.file))(t), c.names, c.data)
		})
	}
}

var badNPY = map[string]struct {
	file    []byte
	message string
}{
	"empty":              {nil, "an NPY file must begin"},
	"a CSV file":         {[]byte("t,y\n1,2\n3,4\n"), `an NPY file must begin with "\x93NUMPY"`},
	"version 0":          {npy(0, dict("<f8", "False", "(1,)"), f8(1)...), "version 0.0"},
	"version 4":          {npy(4, dict("<f8", "False", "(1,)"), f8(1)...), "version 4.0"},
	"length cut":         {[]byte("\x93NUMPY\x01\x00v"), "the file ends in its header"},
	"header absurd":      {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"), "the header has 4294967295 bytes"},
	"header cut":         {npy(1, dict("<f8", "False", "(1,)"))[:40], "the file ends in its header"},
	"header not UTF-8":   {npy(3, "{'\xff': 1}"), "the header is"},
	"no dictionary":      {npy(1, "hello"), `the header is "hello"; must be like {'descr'`},
	"key missing":        {npy(1, "{'descr': '<f8', 'shape': (1,), }\n", f8(1)...), "the header is"},
	"key twice":          {npy(1, "{'shape': (1,), 'descr': '<f8', 'descr': '<f8'}\n"), "the header is"},
	"key unknown":        {npy(1, "{'shape': (1,), 'descr': '<f8', 'order': 'C'}\n"), "the header is"},
	"text after":         {npy(1, dict("<f8", "False", "(1,)")+"x", f8(1)...), "the header is"},
	"fortran a word":     {npy(1, dict("<f8", "'x'", "(1,)"), f8(1)...), "the header is"},
	"shape a word":       {npy(1, dict("<f8", "False", "'1'"), f8(1)...), "the header is"},
	"records":            {npy(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}\n", f8(1)...), "records"},
	"shape 2⁶³":          {npy(1, dict("<f8", "False", "(9223372036854775808,)"), f8(1)...), "too large for a file"},
	"0-D":                {npy(1, dict("<f8", "False", "()"), f8(1)...), "0 dimensions"},
	"3-D":                {npy(1, dict("<f8", "False", "(1, 1, 1)"), f8(1)...), "3 dimensions"},
	"no rows":            {npy(1, dict("<f8", "False", "(0, 3)")), "shape [0 3] has no values"},
	"no columns":         {npy(1, dict("<f8", "False", "(3, 0)")), "shape [3 0] has no values"},
	"shape overflows":    {npy(1, dict("<f8", "False", "(4294967296, 4294967296)"), f8(1)...), "too large for a file"},
	"shape wraps to 8":   {npy(1, dict("<f8", "False", "(2305843009213693953,)"), f8(1)...), "too large for a file"},
	"shape a lie":        {npy(1, dict("<f8", "False", "(1000000000000000000,)"), f8(1)...), "after 1 of 1000000000000000000 values"},
	"columns a lie":      {npy(1, dict("<f8", "True", "(1, 1000000000000000000)"), f8(1)...), "after 1 of"},
	"data cut":           {npy(1, dict("<f8", "False", "(2,)"), f8(1, 2)[:15]...), "the file ends after 1 of 2 values"},
	"no data":            {npy(1, dict("<f8", "False", "(2,)")), "the file ends after 0 of 2 values"},
	"a byte too many":    {npy(1, dict("<f8", "False", "(1,)"), append(f8(1), 0)...), "bytes after its 1 values"},
	"NaN":                {npy(1, dict("<f8", "False", "(2, 2)"), f8(1, 2, 3, math.NaN())...), `row 1, column 1 (from 0): "NaN" is missing`},
	"infinite, Fortran":  {npy(1, dict("<f8", "True", "(2, 2)"), f8(1, math.Inf(-1), 3, 4)...), `row 1, column 0 (from 0): "-Inf" is not finite`},
	"infinite in single": {npy(1, dict("<f4", "False", "(1,)"), 0, 0, 0x80, 0x7f), "+Inf"},
}

func TestBadNPY(t *testing.T) {
	for _, descr := range []string{"|O", "<c16", "<f2", "|b1", "|i2", "|f8", "=f8", ""} { // unsupported types, or types without a byte order
		_, err := readNPY(npy(1, dict(descr, "False", "(1,)"), f8(1, 1)...))
		oneLine(t, err, fmt.Sprintf("type %q", descr))
	}
	for name, c := range badNPY {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readNPY(c.file)
			runtime.ReadMemStats(&after)
			oneLine(t, err, c.message)
			if n := after.TotalAlloc - before.TotalAlloc; n > 300_000 {
				t.Errorf("%d bytes allocated for a file of %d", n, len(c.file))
			}
		})
	}
	broken := errors.New("broken")
	for _, n := range []int{3, 20, 70} {
		good := npy(1, dict("<f8", "False", "(2,)"), f8(1, 2)...)
		_, err := readArray(breaking{good[:n], broken}, int64(len(good)))
		if !errors.Is(err, broken) || errors.Is(err, ErrFormat) {
			t.Errorf("broken at byte %d: %v; want the reader's own error", n, err)
		}
	}
}

func TestWriteNPY(t *testing.T) {
	data := []float64{1, -0.1, 3, 4, maxNumber, 5e-324}
	for _, c := range []struct {
		shape []int
		names []string
		dict  string
	}{
		{[]int{6}, []string{"x0"}, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }"},
		{[]int{3, 2}, []string{"x0", "x1"}, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"},
	} {
		var b bytes.Buffer
		testkit.OK(t, WriteNPY(&b, c.shape, data))
		if !bytes.Contains(b.Bytes(), []byte(c.dict)) || (b.Len()-8*len(data))%64 != 0 || b.Bytes()[b.Len()-8*len(data)-1] != '\n' {
			t.Errorf("shape %v gives %q; want %s, padded to 64 bytes", c.shape, b.Bytes()[:b.Len()-8*len(data)], c.dict)
		}
		same(t, testkit.Must(readNPY(b.Bytes()))(t), c.names, data)
	}
	for name, c := range map[string]struct {
		shape []int
		data  []float64
	}{
		"too few":  {[]int{2, 3}, data[:5]},
		"too many": {[]int{5}, data},
		"negative": {[]int{-2, -3}, data},
		"overflow": {[]int{1 << 32, 1 << 32}, nil},
		"NaN":      {[]int{1}, []float64{math.NaN()}},
		"infinite": {[]int{1}, []float64{math.Inf(1)}},
		"rank":     {make([]int, 30000), nil},
	} {
		testkit.Fails(t, WriteNPY(io.Discard, c.shape, c.data), ErrFormat, "", name)
	}
	w := testkit.Must(NewNPYWriter(io.Discard, []int{2, 2}))(t) // in several blocks
	testkit.OK(t, w.Write([]float64{1, 2, 3}))
	testkit.Fails(t, w.Write([]float64{math.NaN()}), ErrFormat, "value 3:", "the last is NaN")
	testkit.Fails(t, w.Write([]float64{4, 5}), ErrFormat, "", "one too many")
	broken := errors.New("broken")
	testkit.Fails(t, WriteNPY(brokenWriter{broken}, []int{1 << 16}, make([]float64, 1<<16)), broken, "")
}

// FuzzReadNPY checks that a file is either an error or a complete table of finite numbers that is unchanged after writing and reading.
func FuzzReadNPY(f *testing.F) {
	f.Add(npy(1, dict("<f8", "True", "(2, 2)"), f8(1, 2, 3, 4)...))
	f.Add(npy(3, strings.TrimSpace(dict(">i2", "False", "(2,)")), 1, 2, 3, 4))
	for _, c := range badNPY {
		f.Add(c.file)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAny(t, b, func(r io.Reader, _ string) (*Matrix, error) {
			b, err := io.ReadAll(r)
			if err != nil {
				return nil, err
			}
			return readNPY(b)
		}, func(w io.Writer, x *Matrix) error { return WriteNPY(w, []int{x.Rows, x.Cols}, x.Data) })
	})
}
