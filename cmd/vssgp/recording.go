package main

import (
	"fmt"
	"io"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// readRecording reads a WAV or SPHERE file, told by its content.
func readRecording(path string) (*audio.Recording, error) {
	f, _, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := audio.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// readAudio reads a recording as data: x is the time in seconds, y the
// channels in full scale 1.
func readAudio(path string) (data *vssgp.Data, rate int, err error) {
	r, err := readRecording(path)
	if err != nil {
		return nil, 0, err
	}
	d := &vssgp.Data{N: r.Len(), Q: 1, D: r.Channels(), XNames: []string{"seconds"}}
	for c := range r.Samples {
		d.YNames = append(d.YNames, fmt.Sprintf("channel%d", c+1))
	}
	d.X, d.Y = make([]float64, 0, d.N), make([]float64, 0, d.N*d.D)
	for i := range d.N {
		d.X = append(d.X, float64(i)/float64(r.Rate))
		for _, s := range r.Samples {
			d.Y = append(d.Y, s[i])
		}
	}
	return d, r.Rate, nil
}

// checkWritable looks, before long work, whether a recording can be written
// under that name: its extension and the container's sample formats.
func checkWritable(r *audio.Recording, path string) error {
	c, err := audio.ContainerOf(path)
	if err != nil {
		return err
	}
	if err := r.Write(io.Discard, c); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
