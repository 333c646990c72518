package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// sample returns a file with every kind of shape and value.
func sample() *File {
	long := make([]float64, 9001) // more than one buffer
	for i := range long {
		long[i] = math.Sqrt(float64(i)) - 40
	}
	return &File{
		Tensors: map[string]Tensor{
			"matrix":  {[]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
			"scalar":  {[]int{}, []float64{math.Pi}},
			"empty":   {[]int{0, 7}, []float64{}},
			"long":    {[]int{9001}, long},
			"values":  {[]int{6}, []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64, 5e-324}},
			"é \"<\n": {[]int{1, 1}, []float64{-1}},
		},
		Metadata: map[string]string{"format": "vssgp/1", "x.offset": "[0, 1.5]", "α": "<\"\\\x00>"},
	}
}

// encode writes a file to memory.
func encode(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.OK(t, f.Write(&b))
	return b.Bytes()
}

// read reads a file from memory.
func read(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// same fails the test unless both files have the same bits.
func same(t testing.TB, got, want *File) {
	t.Helper()
	if !maps.Equal(got.Metadata, want.Metadata) || len(got.Tensors) != len(want.Tensors) {
		t.Errorf("metadata %q and %d tensors, want %q and %d", got.Metadata, len(got.Tensors), want.Metadata, len(want.Tensors))
	}
	for name, w := range want.Tensors {
		g, ok := got.Tensors[name]
		if !ok || !slices.Equal(g.Shape, w.Shape) || len(g.Data) != len(w.Data) {
			t.Errorf("%q: shape %v with %d values, want %v", name, g.Shape, len(g.Data), w.Shape)
			continue
		}
		if !slices.EqualFunc(g.Data, w.Data, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Errorf("%q is %.20v, want %.20v", name, g.Data, w.Data)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for name, want := range map[string]*File{"sample": sample(), "nothing": {}} {
		b := encode(t, want)
		if h := binary.LittleEndian.Uint64(b); h%8 != 0 {
			t.Errorf("%s: the header has %d bytes, want a multiple of 8", name, h)
		}
		got := testkit.Must(read(b))(t)
		same(t, got, want)
		for range 10 { // the iteration order of maps is random
			if !bytes.Equal(encode(t, sample()), encode(t, sample())) {
				t.Fatal("the same content gave different bytes")
			}
		}
	}
}

// TestBytesMatchFormat checks the bytes of a small file against the format's description.
func TestBytesMatchFormat(t *testing.T) {
	f := &File{Tensors: map[string]Tensor{"b": {[]int{1}, []float64{1}}, "a": {nil, []float64{-2}}}, Metadata: map[string]string{"k": "v"}}
	header := `{"__metadata__":{"k":"v"},"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]},"b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}`
	header += strings.Repeat(" ", 7-(len(header)+7)%8)
	want := string([]byte{byte(len(header))}) // 8 bytes, of which the other seven are 0
	want += "\x00\x00\x00\x00\x00\x00\x00" + header + "\x00\x00\x00\x00\x00\x00\x00\xc0" + "\x00\x00\x00\x00\x00\x00\xf0\x3f"
	if got := string(encode(t, f)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestTruncated(t *testing.T) {
	f := sample()
	delete(f.Tensors, "long")
	b := encode(t, f)
	for n := range b {
		if _, err := read(b[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut to %d of %d bytes: %v, want ErrFormat", n, len(b), err)
		}
		// The file shrinks after its size was read.
		if _, err := Read(bytes.NewReader(b[:n]), int64(len(b))); !errors.Is(err, ErrFormat) {
			t.Fatalf("shrunk to %d of %d bytes: %v, want ErrFormat", n, len(b), err)
		}
	}
	testkit.Fails(t, testkit.Error(read(append(b, 0))), ErrFormat, "", "a byte too many")
}

// with returns a file with the given header and number of data bytes.
func with(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

// one returns a header with one tensor "t".
func one(dtype, shape, offsets string) string {
	return `{"t":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}}`
}

var malformedFiles = map[string]struct {
	file []byte
	says string
}{
	"empty":               {nil, "0 bytes"},
	"short":               {[]byte("1234567"), "7 bytes"},
	"no header":           {make([]byte, 8), "offset 8"},
	"header beyond":       {append([]byte{9, 0, 0, 0, 0, 0, 0, 0}, "{}      "...), "header length 9"},
	"header absurd":       {append(bytes.Repeat([]byte{255}, 8), "{}"...), "header length 18446744073709551615"},
	"header 2⁶³":          {append([]byte{0, 0, 0, 0, 0, 0, 0, 128}, "{}"...), "header length 9223372036854775808"},
	"header a text file":  {[]byte("t,y\n1,2\n3,4\n"), "not a model file"},
	"not JSON":            {with("hello", 0), "offset 9: the header is not valid JSON"},
	"JSON cut":            {with(`{"t":{"dtype":"F64"`, 0), "not valid JSON"},
	"JSON and more":       {with(`{} {}`, 0), "not valid JSON"},
	"NUL padding":         {with("{}\x00\x00", 0), "not valid JSON"},
	"JSON list":           {with(`[]`, 0), "not a JSON object"},
	"JSON null":           {with(`null`, 0), "not a JSON object"},
	"not UTF-8":           {with("{\"__metadata__\":{\"k\":\"\xff\"}}", 0), "UTF-8"},
	"deep":                {with(strings.Repeat(`{"a":`, 20000), 0), "not valid JSON"},
	"tensor twice":        {with(`{"t":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"t":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}`, 16), `the key "t" twice`},
	"tensor twice, \\u":   {with(`{"t":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},"\u0074":{"dtype":"F64","shape":[0],"data_offsets":[0,0]}}`, 0), `the key "t" twice`},
	"dtype twice":         {with(`{"t":{"dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,8]}}`, 8), `the key "dtype" twice`},
	"metadata twice":      {with(`{"__metadata__":{},"__metadata__":{}}`, 0), "twice"},
	"metadata key twice":  {with(`{"__metadata__":{"k":"1","k":"2"}}`, 0), `the key "k" twice`},
	"metadata list":       {with(`{"__metadata__":["k"]}`, 0), "__metadata__ is not a JSON object"},
	"metadata number":     {with(`{"__metadata__":{"k":1}}`, 0), `"k" is not a string`},
	"metadata nested":     {with(`{"__metadata__":{"k":{}}}`, 0), `"k" is not a string`},
	"tensor a number":     {with(`{"t":1}`, 0), `tensor "t" is not a JSON object`},
	"tensor null":         {with(`{"t":null}`, 0), `tensor "t" is not a JSON object`},
	"unknown key":         {with(`{"t":{"dtype":"F64","shape":[1],"data_offsets":[0,8],"order":"F"}}`, 8), `unknown key "order"`},
	"no dtype":            {with(`{"t":{"shape":[1],"data_offsets":[0,8]}}`, 8), "missing"},
	"no shape":            {with(`{"t":{"dtype":"F64","data_offsets":[0,8]}}`, 8), "missing"},
	"no offsets":          {with(`{"t":{"dtype":"F64","shape":[1]}}`, 8), "missing"},
	"dtype F16":           {with(one("F16", "[4]", "[0,8]"), 8), `dtype "F16", must be F64 or F32`},
	"dtype I64":           {with(one("I64", "[1]", "[0,8]"), 8), `dtype "I64", must be F64 or F32`},
	"dtype lower case":    {with(one("f64", "[1]", "[0,8]"), 8), `dtype "f64"`},
	"dtype a number":      {with(`{"t":{"dtype":64,"shape":[1],"data_offsets":[0,8]}}`, 8), "not a string"},
	"shape a number":      {with(one("F64", "1", "[0,8]"), 8), "shape is not a list"},
	"shape of text":       {with(one("F64", `["1"]`, "[0,8]"), 8), "shape is not a list"},
	"shape nested":        {with(one("F64", `[[1]]`, "[0,8]"), 8), "shape is not a list"},
	"shape negative":      {with(one("F64", "[-1]", "[0,8]"), 8), "entry -1"},
	"shape two negatives": {with(one("F64", "[-1,-1]", "[0,8]"), 8), "entry -1"},
	"shape minus zero":    {with(one("F64", "[-0]", "[0,0]"), 0), "entry -0"},
	"shape a fraction":    {with(one("F64", "[1.5]", "[0,8]"), 8), "entry 1.5"},
	"shape 1e18":          {with(one("F64", "[1e18]", "[0,8]"), 8), "entry 1e18"},
	"shape 10¹⁸":          {with(one("F64", "[1000000000000000000]", "[0,8000000000000000000]"), 8), "ends at byte 8000000000000000000"},
	"shape 2⁶⁰, 2⁴":       {with(one("F64", "[1152921504606846976,16]", "[0,0]"), 0), "exceeds the size of any file"},
	"shape 2³², 2³²":      {with(one("F64", "[4294967296,4294967296]", "[0,0]"), 0), "exceeds the size of any file"},
	"shape 0, 2³², 2³²":   {with(one("F64", "[0,4294967296,4294967296]", "[0,0]"), 0), "exceeds the size of any file"},
	"shape 2⁶¹":           {with(one("F64", "[2305843009213693952]", "[0,0]"), 0), "exceeds the size of any file"},
	"shape 2⁶³":           {with(one("F64", "[9223372036854775808]", "[0,0]"), 0), "entry 9223372036854775808"},
	"shape of rank 65":    {with(one("F64", "["+strings.Repeat("1,", 64)+"1]", "[0,8]"), 8), "more than 64 entries"},
	"offsets of one":      {with(one("F64", "[1]", "[8]"), 8), "data_offsets has 1 entries"},
	"offsets of three":    {with(one("F64", "[1]", "[0,8,8]"), 8), "more than 2 entries"},
	"offsets reversed":    {with(one("F64", "[1]", "[8,0]"), 8), "data_offsets [8, 0]"},
	"offsets negative":    {with(one("F64", "[1]", "[-8,0]"), 8), "entry -8"},
	"offsets too short":   {with(one("F64", "[2]", "[0,8]"), 8), "16 bytes after"},
	"offsets of F32":      {with(one("F32", "[2]", "[0,16]"), 16), "8 bytes after"},
	"offsets beyond":      {with(one("F64", "[2]", "[0,16]"), 8), "ends at byte 16"},
	"offsets wrap":        {with(one("F64", "[1]", "[9223372036854775799,9223372036854775807]"), 8), "ends at byte 9223372036854775807"},
	"hole before":         {with(one("F64", "[1]", "[8,16]"), 16), "leaves a hole"},
	"bytes after":         {with(one("F64", "[1]", "[0,8]"), 9), "1 bytes follow"},
	"bytes and no tensor": {with(`{}`, 3), "3 bytes follow"},
	"hole between": {with(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"F64","shape":[1],"data_offsets":[16,24]}}`, 24),
		`tensor "b": begins at byte 16`},
	"overlap": {with(`{"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}`, 16),
		`tensor "b": begins at byte 8 of the data, inside tensor "a"`},
	"same place": {with(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`, 8),
		"inside"},
	"empty within": {with(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"F64","shape":[0],"data_offsets":[4,4]}}`, 8),
		"inside"},
}

func TestMalformed(t *testing.T) {
	for name, c := range malformedFiles {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read(c.file)
			runtime.ReadMemStats(&after)
			testkit.Fails(t, err, ErrFormat, c.says)
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("the message is not short: %q", err)
			}
			// Parsing JSON by token allocates some tens of bytes per byte. Allocating by an unchecked shape would use all memory.
			if n := after.TotalAlloc - before.TotalAlloc; n > 100_000+100*uint64(len(c.file)) {
				t.Errorf("%d bytes allocated for a file of %d", n, len(c.file))
			}
		})
	}
}

func TestReadsOthers(t *testing.T) {
	header := ` {"b":{"data_offsets":[4,12],"shape":[2],"dtype":"F32"}, "a":{"shape":[1,1],"dtype":"F32","data_offsets":[0,4]},
		"e":{"dtype":"F64","shape":[3,0],"data_offsets":[4,4]}, "c":{"dtype":"F64","shape":[],"data_offsets":[12,20]}}   `
	b := with(header, 20)
	d := b[len(b)-20:]
	for i, v := range []float32{0.5, -0.1, math.MaxFloat32} {
		binary.LittleEndian.PutUint32(d[4*i:], math.Float32bits(v))
	}
	binary.LittleEndian.PutUint64(d[12:], math.Float64bits(0.1))
	got := testkit.Must(read(b))(t)
	same(t, got, &File{Tensors: map[string]Tensor{
		"a": {[]int{1, 1}, []float64{0.5}},
		"b": {[]int{2}, []float64{float64(float32(-0.1)), math.MaxFloat32}},
		"c": {[]int{}, []float64{0.1}},
		"e": {[]int{3, 0}, nil},
	}})
}

func TestWriteRefuses(t *testing.T) {
	tensor := func(name string, n int, shape ...int) *File {
		return &File{Tensors: map[string]Tensor{name: {shape, make([]float64, n)}}}
	}
	for name, f := range map[string]*File{
		"too few values":   tensor("t", 5, 2, 3),
		"too many values":  tensor("t", 7, 2, 3),
		"negative":         tensor("t", 6, -2, -3),
		"overflow":         tensor("t", 0, 1<<32, 1<<32),
		"zero value":       {Tensors: map[string]Tensor{"t": {}}},
		"rank":             {Tensors: map[string]Tensor{"t": {slices.Repeat([]int{1}, 65), []float64{1}}}},
		"metadata's name":  tensor("__metadata__", 1, 1),
		"name not UTF-8":   tensor("\xff", 1, 1),
		"metadata's key":   {Metadata: map[string]string{"\xff": ""}},
		"metadata's value": {Metadata: map[string]string{"": "\xff"}},
	} {
		var b bytes.Buffer
		if err := f.Write(&b); !errors.Is(err, ErrFormat) || b.Len() != 0 {
			t.Errorf("%s: %d bytes and %v; want 0 and ErrFormat", name, b.Len(), err)
		}
	}
}

// fullDisk accepts a limited number of bytes.
type fullDisk int

var errFull = errors.New("full")

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), int(*d))
	*d -= fullDisk(n)
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func TestWriteFullDisk(t *testing.T) {
	f := sample()
	for _, size := range []int{0, 1, 70_000, len(encode(t, f)) - 1} {
		d := fullDisk(size)
		testkit.Fails(t, f.Write(&d), errFull, "", "a disk of ", size, " bytes")
	}
}

func TestReadFile(t *testing.T) {
	d := t.TempDir()
	good, bad := testkit.Put(t, d, "good", string(encode(t, sample()))), testkit.Put(t, d, "bad", "no")
	same(t, testkit.Must(ReadFile(good))(t), sample())
	for path, want := range map[string]error{bad: ErrFormat, d: fileio.ErrNotRegular, filepath.Join(d, "none"): fs.ErrNotExist} {
		testkit.Fails(t, testkit.Error(ReadFile(path)), want, path, path)
	}
}

// TestMetadata checks that Metadata reads only the header and checks it as Read does.
func TestMetadata(t *testing.T) {
	b := encode(t, sample())
	header := 8 + binary.LittleEndian.Uint64(b)
	got, err := Metadata(bytes.NewReader(b[:header]), int64(len(b)))
	if err != nil || !maps.Equal(got, sample().Metadata) {
		t.Errorf("%v, %v; want %v", got, err, sample().Metadata)
	}
	for name, c := range malformedFiles {
		_, want := read(c.file)
		if _, err := Metadata(bytes.NewReader(c.file), int64(len(c.file))); !errors.Is(err, ErrFormat) || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// FuzzRead checks that any file that can be read can be written and read again, and that its
// values take no more memory than the file.
func FuzzRead(f *testing.F) {
	f.Add(encode(f, &File{Tensors: map[string]Tensor{"a": {[]int{2}, []float64{1, 2}}}, Metadata: map[string]string{"k": "v"}}))
	f.Add(with(`{"a":{"dtype":"F32","shape":[2,0],"data_offsets":[0,0]},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8))
	for _, c := range malformedFiles {
		f.Add(c.file)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := read(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("%v; want ErrFormat", err)
			}
			return
		}
		values := 0
		for _, x := range got.Tensors {
			values += cap(x.Data)
		}
		if 4*values > len(b) {
			t.Fatalf("%d values from %d bytes", values, len(b))
		}
		again := testkit.Must(read(encode(t, got)))(t)
		if len(got.Metadata) == 0 {
			got.Metadata = nil
		}
		same(t, again, got)
	})
}
