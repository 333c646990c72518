package table

import (
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

// Extensions are the extensions of tables. Text may be compressed, such as .csv.gz.
var Extensions = []string{"csv", "tsv", "txt", "npy"}

// A File is the file of a table. It can be read repeatedly.
type File struct {
	name string // for messages
	npy  bool
	open func() (*io.SectionReader, io.Closer, error)
}

// At returns the file at a path, in the format of its extension. Errors contain the path and wrap ErrFormat, the system's error, or
// fileio.ErrNotRegular.
func At(path string) (*File, error) {
	ext := Format(path)
	switch {
	case !slices.Contains(Extensions, ext):
		return nil, malformed("%s: the extension %q is not supported for tables; must be .%s (text also as .gz)%s",
			path, filepath.Ext(path), strings.Join(Extensions, ", ."), Convert(ext))
	case ext == "npy" && isGzip(path):
		return nil, malformed("%s is a compressed NPY file; decompress it first (gunzip)", path)
	}
	return &File{path, ext == "npy", func() (*io.SectionReader, io.Closer, error) {
		file, size, err := fileio.OpenRegular(path)
		return io.NewSectionReader(file, 0, size), file, err
	}}, nil
}

// In returns the table in size bytes, which are NPY or text that may be compressed. name is its name in messages.
func In(r io.ReaderAt, size int64, name string) *File {
	head := make([]byte, len(npyMagic))
	r.ReadAt(head, 0)
	return &File{name, string(head) == npyMagic, func() (*io.SectionReader, io.Closer, error) {
		return io.NewSectionReader(r, 0, size), io.NopCloser(nil), nil
	}}
}

// Format returns the extension of a path in lower case, without its dot and without .gz.
func Format(path string) string {
	path = strings.ToLower(path)
	if isGzip(path) {
		path = strings.TrimSuffix(path, ".gz")
	}
	return strings.TrimPrefix(filepath.Ext(path), ".")
}

func isGzip(path string) bool { return strings.EqualFold(filepath.Ext(path), ".gz") }

// Convert returns a hint how to convert a file with an unsupported extension to a table, "" if none is known.
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

// binaries are the first bytes of files that are not text.
var binaries = []struct{ magic, what string }{
	{"PAR1", "a Parquet file" + Convert("parquet")}, {"ARROW1", "a Feather file" + Convert("feather")},
	{"PK\x03\x04", "a zip archive or a spreadsheet" + Convert("xlsx")}, {"\xd0\xcf\x11\xe0", "an old spreadsheet" + Convert("xls")},
	{gzipMagic, "compressed twice; decompress it once (gunzip)"},
	{npyMagic, "an NPY file; the extension must be .npy"}, {"RIFF", "a recording; the extension must be .wav"},
	{"NIST_1A", "a recording; the extension must be .sph"},
	{"\xff\xfe", "UTF-16; must be UTF-8 (iconv -f UTF-16 -t UTF-8)"}, {"\xfe\xff", "UTF-16; must be UTF-8 (iconv -f UTF-16 -t UTF-8)"},
}

// notText describes the format of a file that is not text from its beginning. It returns "" for text.
func notText(head string) string {
	for _, b := range binaries {
		if strings.HasPrefix(head, b.magic) {
			return b.what
		}
	}
	if strings.IndexByte(head, 0) >= 0 {
		return "binary; must be text with lines of numbers"
	}
	return ""
}

// A readerFunc is a function that implements io.Reader.
type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// content opens the decompressed content of the file and returns the size of the file. Reads fail after ctx is canceled.
func (f *File) content(ctx context.Context) (in io.Reader, file io.Closer, size int64, err error) {
	section, file, err := f.open()
	if err != nil {
		return nil, nil, 0, err
	}
	in = interruptible(ctx, section)
	magic := make([]byte, len(gzipMagic))
	if section.ReadAt(magic, 0); string(magic) != gzipMagic {
		return shortLines(in), file, section.Size(), nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		file.Close()
		return nil, nil, 0, f.gzipError(err)
	}
	left := maxUnpacked*section.Size() + maxRecord
	return shortLines(readerFunc(func(b []byte) (int, error) {
		n, err := z.Read(b)
		if left -= int64(n); left < 0 {
			return 0, malformed("%s: the decompressed text exceeds %d times the size of the file; if that is right, "+
				"decompress it first (gunzip)", f.name, maxUnpacked)
		}
		return n, f.gzipError(err)
	})), file, section.Size(), nil
}

// gzipMagic is the beginning of compressed data.
const gzipMagic = "\x1f\x8b"

// maxUnpacked is the maximum size of compressed text after decompression, in sizes of the file, in addition to the
// size of one record. It bounds the memory for a small file that was made to fill the memory. Text of measured
// values is at most 20 times as large.
const maxUnpacked = 30

// errLongLine is the error of a reader for a line of more than maxRecord bytes.
var errLongLine = fmt.Errorf("the line exceeds the maximum of %d bytes; each row must be on a separate line", maxRecord)

// shortLines returns a reader that fails with errLongLine, so that a file without line ends does not fill the memory.
func shortLines(r io.Reader) io.Reader {
	length := 0 // of the last line so far
	return readerFunc(func(b []byte) (int, error) {
		n, err := r.Read(b)
		end := bytes.LastIndexByte(b[:n], '\n')
		if end < 0 {
			end = bytes.LastIndexByte(b[:n], '\r')
		}
		if length += n; end >= 0 {
			length = n - end - 1
		}
		if length > maxRecord {
			return n, errLongLine
		}
		return n, err
	})
}

// interruptible returns a reader that fails after ctx is canceled.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("interrupted: %w", err)
		}
		return r.Read(b)
	})
}

// gzipError adds the name of the file to an error in its compressed data.
func (f *File) gzipError(err error) error {
	damaged := errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF)
	if damaged || err != nil && strings.HasPrefix(err.Error(), "flate:") {
		return malformed("%s: the gzip data are damaged or truncated: %w", f.name, err)
	}
	return err
}
