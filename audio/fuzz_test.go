package audio

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// fuzzDecode checks that arbitrary bytes give an ErrFormat, or a valid recording that can be patched in parts and written back unchanged.
// No read may request more bytes than the file contains.
func fuzzDecode(t *testing.T, file []byte) {
	src := &greedy{Reader: bytes.NewReader(file)}
	f, inParts := NewFile(src, int64(len(file)))
	defer func() {
		if src.most > len(file) {
			t.Errorf("a read requests %d bytes of %d", src.most, len(file))
		}
	}()
	r, err := Decode(file)
	if err != nil {
		testkit.Fails(t, err, ErrFormat, "")
		return
	}
	testkit.OK(t, inParts, "a recording in memory, but in parts")
	if r.Rate <= 0 || r.Channels() < 1 || r.Len() < 1 || r.pcm == nil && r.end() > int64(len(file)) {
		t.Fatalf("rate %d, %d channels, %d samples in %d bytes", r.Rate, r.Channels(), r.Len(), len(file))
	}
	mid := r.Len() / 2
	p, _, err := f.Patch([]Change{{mid, testkit.Must(f.Read(mid, r.Len()))(t)}})
	testkit.OK(t, err)
	back := testkit.Must(Decode(written(t, p, r.Container())))(t)
	before := sameSamples(within(back.Samples, 0, mid), within(r.Samples, 0, mid))
	if !before || f.encoding.ValidBits == 0 && !sameSamples(back.Samples, r.Samples) {
		t.Fatal("a patch with the same samples changed some")
	}
	cues, err := r.Cues()
	if err != nil || slices.ContainsFunc(cues, func(g Gap) bool { return g.Start < 0 || g.Len() < 1 || g.End > r.Len() }) {
		t.Fatal(cues, err)
	}
	var out bytes.Buffer
	testkit.OK(t, r.Write(&out, r.Container()))
	if back := testkit.Must(Decode(out.Bytes()))(t); !sameSamples(back.Samples, r.Samples) {
		t.Fatal("samples changed")
	}
}

// greedy records the size of the largest read.
type greedy struct {
	*bytes.Reader
	most int
}

func (g *greedy) ReadAt(b []byte, at int64) (int, error) {
	g.most = max(g.most, len(b))
	return g.Reader.ReadAt(b, at)
}

func FuzzReadWAV(f *testing.F) {
	for _, g := range goodFiles() {
		if strings.Contains(g.name, "1 channels") && !strings.HasPrefix(g.name, "sphere") {
			f.Add(g.file)
		}
	}
	f.Fuzz(fuzzDecode)
}

func FuzzReadSphere(f *testing.F) {
	f.Add("sample_rate -i 16000\nend_head\n", []byte("abcdef"))
	f.Add("channel_count -i 2\nsample_rate -r 8000.0\nsample_n_bytes -i 3\nsample_byte_format -s3 210\nsample_count -i 1\nend_head\n", []byte("abcdef"))
	f.Fuzz(func(t *testing.T, header string, data []byte) {
		pad := max(0, 1024-16-len(header))
		fuzzDecode(t, append([]byte("NIST_1A\n   1024\n"+header+strings.Repeat(" ", pad)), data...))
	})
}

func FuzzParseGap(f *testing.F) {
	for _, s := range []string{"1:2", "0.5s:0.52s", "500ms:1s", ":", "-1:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := ParseGap(s, 16000)
		if err != nil {
			testkit.Fails(t, err, ErrGaps, "")
			return
		}
		if again, err := ParseGap(g.String(), 16000); err != nil || again != g || g.Len() < 1 || g.Start < 0 {
			t.Fatalf("%q is %v, which is %v (%v)", s, g, again, err)
		}
	})
}

func FuzzGapsCSV(f *testing.F) {
	for _, s := range []string{"start,end\n1,5\n9,12\n", "\ufeffstart,end\r\n1,5\r\n", "start,end\n\"1\",5", "a,b\n", "start,end,channel\n5ms,0.1s,2\n",
		"0.5\t0.625\tclick @2\n\\\t100\t200\n1,5\t2\t\r\n", "1\t1\tpoint\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		labels, err := ReadLabels(strings.NewReader(s), 8000)
		if err != nil {
			testkit.Fails(t, err, ErrGaps, "")
			return
		}
		var b bytes.Buffer
		testkit.OK(t, WriteLabelsCSV(&b, labels))
		same := func(a, b Label) bool { return a.Gap == b.Gap && a.Text == b.Text }
		if again, err := ReadLabels(&b, 8000); len(labels) > 0 && (err != nil || !slices.EqualFunc(again, labels, same)) {
			t.Fatalf("%q are written and read as %q, %v", labels, again, err)
		}
	})
}
