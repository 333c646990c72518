package audio

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestWriter: part by part the file has the bytes that New's recording has, padded
// to an even length too.
func TestWriter(t *testing.T) {
	for _, e := range []Encoding{PCM8, PCM16, PCM24, PCM32, Float32, Float64} {
		for channels := 1; channels < 3; channels++ {
			const n = 7
			samples, rows := make([][]float64, channels), []float64{}
			for i := range n {
				for c := range channels {
					v := math.Sin(float64(3*i+c)) * 1.1 // some are clipped
					samples[c], rows = append(samples[c], v), append(rows, v)
				}
			}
			r, _, err := New(8000, e, samples)
			if err != nil {
				t.Fatal(err)
			}
			var want, got bytes.Buffer
			if err := r.Write(&want, WAV); err != nil {
				t.Fatal(err)
			}
			w, err := NewWriter(&got, 8000, e, channels, n)
			if err != nil {
				t.Fatal(err)
			}
			for part := range slices.Chunk(rows, 3) {
				if err := w.Write(part); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%v, %d channels: %v; %d bytes, want %d", e, channels, err, got.Len(), want.Len())
			}
		}
	}
}

// TestWriterRefuses: samples that are missing, too many or not finite, and says
// which.
func TestWriterRefuses(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, 8000, Float32, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]float64{0, 1, 2}); err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(-1)} {
		if err := w.Write([]float64{v}); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "sample 1 of channel 1 ") {
			t.Errorf("%v: %v", v, err)
		}
	}
	if err := w.Write(make([]float64, 4)); !errors.Is(err, ErrArgument) {
		t.Errorf("one too many: %v", err)
	}
	if err := w.Close(); !errors.Is(err, ErrArgument) {
		t.Errorf("three are missing: %v", err)
	}
}
