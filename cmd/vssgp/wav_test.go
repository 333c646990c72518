package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// wav is a RIFF file of 16-bit PCM samples, laid out by hand so that the tests
// do not rest on the writer that they test.
func wav(rate, channels int, samples []int16) []byte {
	var b bytes.Buffer
	le := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err) // a Buffer takes everything
		}
	}
	size := uint32(2 * len(samples))
	b.WriteString("RIFF")
	le(36 + size)
	b.WriteString("WAVEfmt ")
	le(uint32(16))
	le(uint16(1)) // PCM
	le(uint16(channels))
	le(uint32(rate))
	le(uint32(rate * channels * 2))
	le(uint16(channels * 2))
	le(uint16(16))
	b.WriteString("data")
	le(size)
	le(samples)
	return b.Bytes()
}

// tone is n samples of two decaying-free tones and a little noise, never
// exactly zero.
func tone(n, rate int) []int16 {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]int16, n)
	for i := range out {
		t := float64(i) / float64(rate)
		out[i] = int16(9000*math.Sin(2*math.Pi*200*t) + 4000*math.Cos(2*math.Pi*610*t) + 40*rng.NormFloat64())
		if out[i] == 0 {
			out[i] = 1
		}
	}
	return out
}

// patched is a copy of b with the bytes at offset replaced.
func patched(b []byte, offset int, with ...byte) []byte {
	c := bytes.Clone(b)
	copy(c[offset:], with)
	return c
}

// words are 16-bit little-endian samples of a file made by wav.
func words(t *testing.T, file []byte) []int16 {
	t.Helper()
	at := bytes.Index(file, []byte("data"))
	if at < 0 {
		t.Fatalf("no data chunk in %d bytes", len(file))
	}
	out := make([]int16, binary.LittleEndian.Uint32(file[at+4:])/2)
	if _, err := binary.Decode(file[at+8:], binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}
