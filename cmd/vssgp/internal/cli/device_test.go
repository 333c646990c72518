package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/internal/testkit"
)

// A fakeCard is a backend that counts calls of Close.
type fakeCard struct {
	backend.Backend
	name   string
	closed int
	fail   error
}

func (f *fakeCard) Name() string { return f.name }

func (f *fakeCard) Close() error {
	f.closed++
	return f.fail
}

// machineWith returns a Device with fake GPUs. Opening those in fails returns an error.
func machineWith(cards []cuda.Device, listErr error, fails map[int]error) (c *Device, said *[]string) {
	said = new([]string)
	made := NewDevice(func(format string, a ...any) { *said = append(*said, fmt.Sprintf(format, a...)) })
	made.present = func() bool { return false }
	made.list = func() ([]cuda.Device, error) { return cards, listErr }
	made.open = func(o gpu.Options) (backend.Backend, error) {
		if err := fails[o.Ordinal]; err != nil {
			return nil, err
		}
		return &fakeCard{Backend: cpu.New(), name: fmt.Sprintf("cuda:%d made", o.Ordinal)}, nil
	}
	return &made, said
}

// TestChoice checks the selected device, the printed message, and the kind of error
// if there is no device.
func TestChoice(t *testing.T) {
	old := cuda.Device{Ordinal: 0, Name: "Old", Major: 5, Reason: "compute capability 5.0, want 8.0 or more"}
	good := cuda.Device{Ordinal: 1, Name: "Good", Major: 9}
	toy := cuda.Device{Ordinal: 0, Name: "emulated sm_80", Major: 8}
	none := fmt.Errorf("build with -tags cuda: %w", cuda.ErrNoDevice)
	for _, c := range []struct {
		name, device string // device: "" is auto without the flag
		present      bool   // the system lists a GPU
		cards        []cuda.Device
		listErr      error
		fails        map[int]error
		want, said   string // name of the backend, part of the message of auto
		mistake      bool
		err          string // part of the error
	}{
		{name: "a build without CUDA, no card", listErr: none, want: "cpu"},
		{name: "a build without CUDA, a card", listErr: none, present: true, want: "cpu", said: "on the CPU: build with -tags cuda"},
		{name: "no card", want: "cpu"},
		{name: "a card, and it is used", cards: []cuda.Device{good}, want: "cuda:1 made", said: "computing on cuda:1 made: about 10 s"},
		{name: "old card", cards: []cuda.Device{old}, want: "cpu", said: "cuda:0 Old: compute capability 5.0"},
		{name: "card in use", cards: []cuda.Device{good}, fails: map[int]error{1: cuda.ErrOutOfMemory}, want: "cpu", said: "cuda:1: "},
		{name: "emulated", cards: []cuda.Device{toy}, want: "cpu"},
		{name: "auto, no driver", device: "auto", listErr: none, want: "cpu", said: "on the CPU: build with -tags cuda"},
		{name: "auto, no card", device: "auto", want: "cpu", said: "there is no GPU"},
		{name: "auto, second card", device: "auto", cards: []cuda.Device{old, good}, want: "cuda:1 made", said: "cuda:1 made"},
		{name: "auto, old card", device: "auto", cards: []cuda.Device{old}, want: "cpu", said: "cuda:0 Old: compute capability 5.0"},
		{name: "auto, card in use", device: "auto", cards: []cuda.Device{good}, fails: map[int]error{1: cuda.ErrOutOfMemory}, want: "cpu",
			said: "cuda:1: "},
		{name: "auto, emulated", device: "auto", cards: []cuda.Device{toy}, want: "cpu", said: "there is no GPU"},
		{name: "cpu", device: "cpu", cards: []cuda.Device{good}, want: "cpu"},
		{name: "cuda, no driver", device: "cuda", listErr: none, mistake: true, err: "--device cuda: build with -tags cuda; use"},
		{name: "cuda, old card", device: "cuda", cards: []cuda.Device{old}, mistake: true, err: "compute capability 5.0"},
		{name: "cuda takes the usable card", device: "cuda", cards: []cuda.Device{old, good}, want: "cuda:1 made"},
		{name: "cuda takes emulated cards", device: "cuda", cards: []cuda.Device{toy}, want: "cuda:0 made"},
		{name: "cuda:3", device: "cuda:3", cards: []cuda.Device{good}, fails: map[int]error{3: none}, mistake: true, err: "--device cuda:3"},
		{name: "cuda:1", device: "cuda:1", cards: []cuda.Device{good}, want: "cuda:1 made"},
		{name: "cuda:0 of two", device: "cuda:0", cards: []cuda.Device{toy, good}, want: "cuda:0 made"},
		{name: "cuda:1 lost", device: "cuda:1", cards: []cuda.Device{good}, fails: map[int]error{1: cuda.ErrLost}, err: "--device cuda:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, said := machineWith(c.cards, c.listErr, c.fails)
			m.present = func() bool { return c.present }
			if c.device != "" {
				testkit.OK(t, m.setDevice(c.device))
			}
			b, err := m.Backend()
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || errors.Is(err, errUsage) != c.mistake {
					t.Errorf("error %v, want one with %q, a mistake of the caller: %v", err, c.err, c.mistake)
				}
				if b != nil {
					t.Error("a backend in addition to the error")
				}
				return
			}
			if again, _ := m.Backend(); again != b {
				t.Error("asked twice, it opens another")
			}
			if a, ok := b.(*auto); ok {
				b = a.choose(cardFlops)
			}
			if err != nil || b.Name() != c.want {
				t.Fatalf("%v, %v; want %s", b, err, c.want)
			}
			if text := strings.Join(*said, "\n"); !strings.Contains(text, c.said) || (c.said == "") != (text == "") || len(*said) > 1 {
				t.Errorf("said %q, want one line with %q", *said, c.said)
			}
		})
	}
}

// TestDeviceClosed checks that an opened backend is closed once and that an error of
// closing is returned.
func TestDeviceClosed(t *testing.T) {
	c, _ := machineWith([]cuda.Device{{Ordinal: 0, Name: "Good"}}, nil, nil)
	c.device = "cuda"
	if err := c.Close(); err != nil {
		t.Errorf("closing an unopened device: %v", err)
	}
	card := &fakeCard{Backend: cpu.New(), fail: errors.New("busy")}
	c.open = func(gpu.Options) (backend.Backend, error) { return card, nil }
	for range 2 {
		testkit.Must(c.Backend())(t)
	}
	if err := c.Close(); err == nil || !errors.Is(err, card.fail) {
		t.Errorf("close: %v, want the backend's error", err)
	}
	if err := c.Close(); err != nil || card.closed != 1 {
		t.Errorf("closed %d times, want once; %v", card.closed, err)
	}
}

// TestCardPresent checks the detection of GPUs by the driver or a device file. The driver without a GPU is not sufficient.
func TestCardPresent(t *testing.T) {
	for path, want := range map[string]bool{
		"proc/driver/nvidia/version": false, "dev/nvidiactl": false, "dev/nvidia-uvm": false, "dev/null": false,
		"dev/nvidia0": true, "dev/nvidia7": true, "proc/driver/nvidia/gpus/0000:00:04.0/information": true,
	} {
		root := t.TempDir()
		testkit.OK(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o777))
		testkit.Put(t, root, path, "")
		if got := cardPresent(root); got != want {
			t.Errorf("%s: a card is there: %v, want %v", path, got, want)
		}
	}
}

func TestDevicesList(t *testing.T) {
	c, _ := machineWith([]cuda.Device{
		{Ordinal: 0, Name: "NVIDIA Fast", Memory: 80 << 30, Major: 9, SMs: 132},
		{Ordinal: 2, Name: "NVIDIA Game", Memory: 24 << 30, Major: 8, Minor: 9, SMs: 128},
		{Ordinal: 1, Name: "NVIDIA Old", Memory: 2 << 30, Major: 5, Minor: 2, SMs: 5, Reason: "too old"},
	}, nil, nil)
	var b bytes.Buffer
	for _, d := range c.devices() {
		fmt.Fprintln(&b, d)
	}
	lines := strings.Split(b.String(), "\n")
	for i, words := range [][]string{
		{"cpu", "cores"},
		{"cuda:0", "NVIDIA Fast", "80.0 GiB memory", "9.0", "132"},
		{"cuda:2", "NVIDIA Game", "8.9"},
		{"cuda:1", "NVIDIA Old", "5.2", "not usable: too old"},
	} {
		testkit.Contains(t, lines[i], words...)
	}
	c.list = func() ([]cuda.Device, error) { return nil, fmt.Errorf("no driver here: %w", cuda.ErrNoDevice) }
	all := c.devices()
	if last := all[len(all)-1]; len(all) != 2 || last.Available || last.Reason != "no driver here" {
		t.Errorf("%+v, want the CPU and why cuda is missing", all)
	}
	c.list = func() ([]cuda.Device, error) { return nil, nil }
	if all := c.devices(); len(all) != 2 || all[1].Reason != noCard {
		t.Errorf("%+v, want the CPU and that there is no GPU", all)
	}
}
