package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio"
)

// Extensions are those of the files that are tables. Text may be packed: .csv.gz.
var Extensions = []string{"csv", "tsv", "txt", "npy"}

// A File is the bytes of a table. They can be read as often as needed.
type File struct {
	name string // for messages
	npy  bool
	open func() (readable, int64, error)
}

// readable is an open file.
type readable interface {
	io.ReaderAt
	io.Closer
}

// At is the file at a path. Its extension says what it is. Errors in it name the path and wrap ErrFormat, the system's error, or
// fileio.ErrNotRegular.
func At(path string) (*File, error) {
	ext := Format(path)
	switch {
	case !slices.Contains(Extensions, ext):
		return nil, malformed("%s: the extension %q is not a table's; want .%s (text also as .gz)%s",
			path, filepath.Ext(path), strings.Join(Extensions, ", ."), Convert(ext))
	case ext == "npy" && packed(path):
		return nil, malformed("%s: a packed NPY file; want it unpacked (gunzip)", path)
	}
	return &File{path, ext == "npy", func() (readable, int64, error) { return fileio.OpenRegular(path) }}, nil
}

// In is a table in size bytes; name stands for the file in messages. It may be packed text.
func In(r io.ReaderAt, size int64, name string) *File {
	head := make([]byte, len(npyMagic))
	r.ReadAt(head, 0)
	return &File{name, string(head) == npyMagic, func() (readable, int64, error) { return unclosed{r}, size, nil }}
}

type unclosed struct{ io.ReaderAt }

func (unclosed) Close() error { return nil }

// Format is the extension of a path in small letters, without its dot and without .gz.
func Format(path string) string {
	path = strings.ToLower(path)
	if packed(path) {
		path = strings.TrimSuffix(path, ".gz")
	}
	return strings.TrimPrefix(filepath.Ext(path), ".")
}

// packed reports whether a path says that its content is gzipped.
func packed(path string) bool { return strings.EqualFold(filepath.Ext(path), ".gz") }

// Convert says how to make a table of a file that is none, by its extension; "" if there is nothing to say.
func Convert(ext string) string {
	how := map[string]string{
		"parquet": "pandas.read_parquet(%q).to_csv('data.csv', index=False), or duckdb -c \"COPY '%s' TO 'data.csv'\"",
		"feather": "pandas.read_feather(%q).to_csv('data.csv', index=False)",
		"xlsx":    "save the sheet as CSV, or pandas.read_excel(%q).to_csv('data.csv', index=False)",
		"xls":     "save the sheet as CSV", "ods": "save the sheet as CSV",
		"json":  "pandas.read_json(%q).to_csv('data.csv', index=False)",
		"jsonl": "pandas.read_json(%q, lines=True).to_csv('data.csv', index=False)",
	}[ext]
	if how == "" {
		return ""
	}
	return "; to convert it: " + strings.NewReplacer("%q", "'data."+ext+"'", "%s", "data."+ext).Replace(how)
}

// binaries are the beginnings of files that are no text, and what they are.
var binaries = []struct{ magic, what string }{
	{"PAR1", "a Parquet file" + Convert("parquet")}, {"ARROW1", "a Feather file" + Convert("feather")},
	{"PK\x03\x04", "a zip archive or a spreadsheet" + Convert("xlsx")}, {"\xd0\xcf\x11\xe0", "an old spreadsheet" + Convert("xls")},
	{npyMagic, "an NPY file; want the extension .npy"}, {"RIFF", "a recording; want the extension .wav"},
	{"NIST_1A", "a recording; want the extension .sph"},
	{"\xff\xfe", "UTF-16; want UTF-8 (iconv -f UTF-16 -t UTF-8)"}, {"\xfe\xff", "UTF-16; want UTF-8 (iconv -f UTF-16 -t UTF-8)"},
}

// notText says what the beginning of a file is, "" if it may be text.
func notText(head []byte) string {
	for _, b := range binaries {
		if bytes.HasPrefix(head, []byte(b.magic)) {
			return b.what
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return "binary, not text; want lines of numbers"
	}
	return ""
}

// sampleSize is how many bytes of a file decide how it is written.
const sampleSize = 1 << 16

// readerFunc is an io.Reader.
type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// text opens the file as text, unpacked if it is gzipped. Reading fails once ctx has ended.
func (f *File) text(ctx context.Context) (*bufio.Reader, io.Closer, error) {
	file, size, err := f.open()
	if err != nil {
		return nil, nil, err
	}
	section := io.NewSectionReader(file, 0, size)
	in := bufio.NewReaderSize(readerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("%s: interrupted: %w", f.name, err)
		}
		return section.Read(b)
	}), sampleSize)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			file.Close()
			return nil, nil, f.unpacking(err)
		}
		in = bufio.NewReaderSize(readerFunc(func(b []byte) (int, error) {
			n, err := z.Read(b)
			return n, f.unpacking(err)
		}), sampleSize)
	}
	return in, file, nil
}

// unpacking words an error of gzip.
func (f *File) unpacking(err error) error {
	damaged := errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF)
	if damaged || err != nil && strings.HasPrefix(err.Error(), "flate:") {
		return malformed("%s: the gzip data are damaged or cut off: %w", f.name, err)
	}
	return err
}
