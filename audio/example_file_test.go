package audio_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/vssgp/vssgp/audio"
)

// Open reads a whole recording into memory.
func ExampleOpen() {
	rec, err := audio.Open("../testdata/speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rec.Container(), rec.Channels(), "channel,", rec.Len(), "samples at", rec.Rate, "Hz")
	fmt.Printf("%.4f\n", rec.Samples[0][20000:20003]) // full scale is 1

	_, err = audio.Decode([]byte("ID3\x03\x00\x00\x00\x00\x00\x00 an MP3 file"))
	var foreign *audio.ForeignError
	if errors.As(err, &foreign) {
		fmt.Println("convert the", foreign.Format, "file first:", errors.Is(err, audio.ErrFormat))
	}
	// Output:
	// WAV 1 channel, 46400 samples at 16000 Hz
	// [0.0074 0.0070 0.0060]
	// convert the MP3 file first: true
}

// A File reads a recording in parts, so that it need not fit in memory. Here the loudest second
// is searched.
func ExampleNewFile() {
	src, err := os.Open("../testdata/speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := audio.NewFile(src, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	second, loudest := f.Rate(), 0.0
	for lo := 0; lo < f.Len(); lo += second {
		part, err := f.Read(lo, min(lo+second, f.Len())) // [channel][sample]
		if err != nil {
			log.Fatal(err)
		}
		for _, v := range part[0] {
			loudest = max(loudest, math.Abs(v))
		}
	}
	fmt.Printf("peak %.2f in %v\n", loudest, f.Encoding())

	quiet, err := f.Scaled(0.5, audio.Float32) // computed when it is read
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("half as loud, in", quiet.Encoding())

	regions, err := f.Cues() // parts that were marked in an editor
	fmt.Println(len(regions), "marked regions", err)
	// Output:
	// peak 0.72 in 16-bit PCM
	// half as loud, in 32-bit float
	// 0 marked regions <nil>
}

// Patch replaces some samples. In the file's own container all other bytes stay the same.
func ExampleFile_Patch() {
	original, err := os.ReadFile("../testdata/speech_gapped.wav")
	if err != nil {
		log.Fatal(err)
	}
	rec, err := audio.Decode(original)
	if err != nil {
		log.Fatal(err)
	}
	patch, clipped, err := rec.Patch([]audio.Change{{Start: 3200, Values: [][]float64{{0.1, 0.2, 1.5}}}})
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	if err := patch.Write(&out, rec.Container()); err != nil {
		log.Fatal(err)
	}
	changed := 0
	for i, b := range out.Bytes() {
		if b != original[i] {
			changed++
		}
	}
	fmt.Println(clipped, "sample clipped,", changed, "bytes changed, the same length:", out.Len() == len(original))

	_, _, err = rec.Patch([]audio.Change{{Start: -1, Values: [][]float64{{0}}}})
	fmt.Println(errors.Is(err, audio.ErrGaps))
	// Output:
	// 1 sample clipped, 6 bytes changed, the same length: true
	// true
}

// Write converts a recording to another container. FLAC is smaller than WAV and has the same
// samples.
func ExampleRecording_Write() {
	rec, err := audio.Open("../testdata/speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	container, err := audio.ContainerOf("speech.flac")
	if err != nil {
		log.Fatal(err)
	}
	if err := rec.CheckWrite(container); err != nil { // before a long computation
		log.Fatal(err)
	}
	var wav, flac bytes.Buffer
	if err := rec.Write(&wav, audio.WAV); err != nil {
		log.Fatal(err)
	}
	if err := rec.Write(&flac, container); err != nil {
		log.Fatal(err)
	}
	same, err := audio.Decode(flac.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(same.Container(), "is smaller:", flac.Len() < wav.Len())
	fmt.Println("the same samples:", slices.Equal(same.Samples[0], rec.Samples[0]))
	// Output:
	// FLAC is smaller: true
	// the same samples: true
}

// Files are recognized by their content. An output's container follows from its extension.
func ExampleContainerOf() {
	fmt.Println(audio.Extensions())
	for _, path := range []string{"a.wav", "b.w64", "c.aif", "d.mp3"} {
		c, err := audio.ContainerOf(path)
		fmt.Println(path, c, err == nil)
	}
	// Output:
	// [wav wave flac rf64 bw64 w64 aif aiff aifc sph nist]
	// a.wav WAV true
	// b.w64 W64 true
	// c.aif AIFF true
	// d.mp3 Container(0) false
}

// Salvage reads the samples of a file that was cut short, and returns the damage as an error.
func ExampleSalvage() {
	whole, err := os.ReadFile("../testdata/speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	cut := whole[:len(whole)/2]
	_, err = audio.NewFile(bytes.NewReader(cut), int64(len(cut)))
	fmt.Println("refused:", errors.Is(err, audio.ErrFormat))
	f, damage, err := audio.Salvage(bytes.NewReader(cut), int64(len(cut)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Len(), "samples exist; damaged:", errors.Is(damage, audio.ErrFormat))
	// Output:
	// refused: true
	// 23189 samples exist; damaged: true
}

// A Writer writes a WAV file in parts. Samples are interleaved: left, right, left, right.
func ExampleNewWriter() {
	dir, err := os.MkdirTemp("", "audio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tone.wav")
	f, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	const rate, seconds = 8000, 2
	w, err := audio.NewWriter(f, rate, audio.PCM24, 2, seconds*rate)
	if err != nil {
		log.Fatal(err)
	}
	for second := range seconds {
		var block []float64
		for i := range rate {
			t := float64(second) + float64(i)/rate
			block = append(block, 0.5*math.Sin(2*math.Pi*440*t), 0.5*math.Sin(2*math.Pi*441*t))
		}
		if err := w.Write(block); err != nil {
			log.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		log.Fatal(err)
	}
	rec, err := audio.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rec.Encoding(), rec.Channels(), "channels,", rec.Len(), "samples")

	_, err = audio.NewWriter(f, 0, audio.PCM24, 2, 1)
	fmt.Println("no rate:", errors.Is(err, audio.ErrArgument))
	// Output:
	// 24-bit PCM 2 channels, 16000 samples
	// no rate: true
}

// An Encoding is the format of one sample. Other programs' formats can be described, too.
func ExampleEncoding() {
	fmt.Println(audio.PCM8, audio.PCM16, audio.PCM32, audio.Float64)
	sphere := audio.Encoding{Bytes: 2, BigEndian: true, ValidBits: 12}
	fmt.Println(sphere, "with a step of 1/2048:", sphere.Step() == 1.0/2048)
	fmt.Println("unsigned:", audio.PCM8.Unsigned, "float:", audio.Float32.Float)
	fmt.Println("0.3 is stored as", audio.PCM8.Nearest(0.3), "and 2 as", audio.PCM8.Nearest(2))
	fmt.Println("steps of", audio.MinStep([]float64{0.25, -0.5, 0.375, 0.25}))
	// Output:
	// 8-bit PCM 16-bit PCM 32-bit PCM 64-bit float
	// 16-bit PCM with a step of 1/2048: true
	// unsigned: true float: true
	// 0.3 is stored as 0.296875 and 2 as 0.9921875
	// steps of 0.125
}

// Samples in memory are a Source, and so is a File: functions that take a Source read only the
// parts that they need.
func ExampleSource() {
	var src audio.Source = audio.Samples{{0, 0.1, 0.2, 0.3}, {1, 0.9, 0.8, 0.7}}
	part, err := src.Read(1, 3)
	fmt.Println(part, err)
	// Output: [[0.1 0.2] [0.9 0.8]] <nil>
}
