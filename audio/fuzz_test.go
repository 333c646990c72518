package audio

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// fuzzDecode holds for any bytes: an ErrFormat, or a sound recording that is written back as it was.
func fuzzDecode(t *testing.T, file []byte) {
	src := &greedy{Reader: bytes.NewReader(file)}
	if _, err := NewFile(src, int64(len(file))); src.most > len(file) {
		t.Fatalf("%d bytes asked for at once of %d (%v)", src.most, len(file), err)
	}
	r, err := Decode(file)
	if err != nil {
		if !errors.Is(err, ErrFormat) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%v", err)
		}
		return
	}
	if r.Rate <= 0 || r.Channels() < 1 || r.Len() < 1 || r.file.pcm == nil && r.file.end() > int64(len(file)) {
		t.Fatalf("rate %d, %d channels, %d samples in %d bytes", r.Rate, r.Channels(), r.Len(), len(file))
	}
	fuzzParts(t, file, r)
	cues, err := r.file.Cues()
	if err != nil || slices.ContainsFunc(cues, func(g Gap) bool { return g.Start < 0 || g.Len() < 1 || g.End > r.Len() }) {
		t.Fatal(cues, err)
	}
	var out bytes.Buffer
	testkit.OK(t, r.Write(&out, r.Container()))
	back, err := Decode(out.Bytes())
	testkit.OK(t, err, "what was written cannot be read")
	if !sameSamples(back.Samples, r.Samples) {
		t.Fatal("samples came back changed")
	}
}

// greedy remembers the most bytes asked for at once, for which there must have been room.
type greedy struct {
	*bytes.Reader
	most int
}

func (g *greedy) ReadAt(b []byte, at int64) (int, error) {
	g.most = max(g.most, len(b))
	return g.Reader.ReadAt(b, at)
}

// fuzzParts reads and patches the file in parts.
func fuzzParts(t *testing.T, file []byte, r *Recording) {
	src := &greedy{Reader: bytes.NewReader(file)}
	f, err := NewFile(src, int64(len(file)))
	if err != nil {
		t.Fatalf("a recording in memory, but in parts %v", err)
	}
	mid := r.Len() / 2
	part := testkit.Must(f.Read(mid, r.Len()))(t)
	p, _, err := f.Patch([]Change{{mid, part}})
	testkit.OK(t, err)
	for _, to := range []*Patch{p, {f: r.file}} {
		var out bytes.Buffer
		testkit.OK(t, to.Write(&out, r.Container()))
		back, err := Decode(out.Bytes())
		testkit.OK(t, err, "what was patched cannot be read")
		for c := range part {
			if !slices.Equal(back.Samples[c][:mid], r.Samples[c][:mid]) || f.encoding.ValidBits == 0 && !slices.Equal(back.Samples[c], r.Samples[c]) {
				t.Fatalf("channel %d came back changed", c)
			}
		}
	}
	if src.most > len(file) {
		t.Fatalf("%d bytes asked for at once of %d", src.most, len(file))
	}
}

func FuzzReadWAV(f *testing.F) {
	for _, g := range goodFiles() {
		if strings.Contains(g.name, "1 channels") && !strings.HasPrefix(g.name, "sphere") {
			f.Add(g.file)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) { fuzzDecode(t, file) })
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
			if !errors.Is(err, ErrGaps) {
				t.Fatal(err)
			}
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
		gaps, err := ReadGaps(strings.NewReader(s), 8000)
		if err != nil {
			if !errors.Is(err, ErrGaps) || strings.Contains(err.Error(), "\n") {
				t.Fatal(err)
			}
			return
		}
		b := bytes.NewBufferString("start,end,channel\n")
		for _, g := range gaps {
			fmt.Fprintf(b, "%d,%d,%d\n", g.Start, g.End, g.Channel)
		}
		text := strings.ReplaceAll(b.String(), ",0\n", ",\n")
		b = bytes.NewBufferString(text)
		if again, err := ReadGaps(b, 8000); err != nil || !slices.Equal(again, gaps) {
			t.Fatalf("%v came back as %v (%v)", gaps, again, err)
		}
	})
}
