package serve

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
)

// FuzzFrame checks that ReadFrame returns an error or a frame that is equal after writing and reading.
func FuzzFrame(f *testing.F) {
	for _, one := range []*Frame{{Args: []string{"version"}}, {Args: []string{"info", "m"},
		Files: []cli.ServedFile{{Name: "m", Content: []byte("abc")}}}, {Note: "x"}} {
		var b bytes.Buffer
		testkit.OK(f, one.Write(&b))
		f.Add(b.Bytes())
	}
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Add([]byte("\x30\x00\x00\x00\x00\x00\x00\x00" + `{"files":[{"name":"a","size":8000000000000000}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		one, err := ReadFrame(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			if !errors.Is(err, errFrame) && !errors.Is(err, io.EOF) {
				t.Fatalf("%v; want errFrame", err)
			}
			return
		}
		var again bytes.Buffer
		testkit.OK(t, one.Write(&again))
		two, err := ReadFrame(bufio.NewReader(&again))
		if err != nil || !reflect.DeepEqual(one, two) {
			t.Fatalf("%+v becomes %+v: %v", one, two, err)
		}
	})
}

// TestMaxHeader checks the maximum size of a frame's JSON.
func TestMaxHeader(t *testing.T) {
	for size, message := range map[uint64]string{maxHeader: "the input ends within its JSON",
		maxHeader + 1: "the maximum is 16777216"} {
		_, err := ReadFrame(bufio.NewReader(bytes.NewReader(binary.LittleEndian.AppendUint64(nil, size))))
		testkit.Fails(t, err, errFrame, message, size)
	}
}
