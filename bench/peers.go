package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp"
)

// speedPy is peers/speed.py, so that a program without its sources has it too.
//
//go:embed peers/speed.py
var speedPy []byte

// peerNames are the libraries that speed.py knows.
var peerNames = []string{"numpy", "jax", "torch"}

// peerTime is what a peer may take, compiling included.
const peerTime = 300 * time.Second

// peerOutput is the most that is kept of what a peer prints.
const peerOutput = 1 << 20

// checkPeers says what is wrong with -peers.
func (o *speedFlags) checkPeers() error {
	if o.peers == "" {
		return nil
	}
	for _, p := range strings.Split(o.peers, ",") {
		if !slices.Contains(peerNames, p) {
			return fmt.Errorf("-peers: %q: want some of %s", p, strings.Join(peerNames, ","))
		}
	}
	_, ordinals, err := parseDevice(o.device)
	switch {
	case err != nil:
		return err
	case o.inference != "exact" || o.Window > 0:
		return errors.New("-peers: they compute the exact bound without windows: want -inference exact and no -window")
	case o.precision != "float64":
		return errors.New("-peers: they compute in float64: want -precision float64")
	case len(ordinals) > 1:
		return errors.New("-peers: they compute on one device: want -device cpu or cuda:n")
	case o.dump != "":
		return errors.New("-peers: -dump times nothing: want one of the two")
	}
	return nil
}

// peers dumps the problem for each peer in turn and times ours again after it.
func (s *session) peers(e *vssgp.Evaluation) (lines []peerLine, err error) {
	if s.o.peers == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "vssgp-peers-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := s.write(dir, s.o.inference, e); err != nil {
		return nil, err
	}
	script := filepath.Join(dir, "speed.py")
	if err := os.WriteFile(script, speedPy, 0o666); err != nil {
		return nil, err
	}
	for _, peer := range strings.Split(s.o.peers, ",") {
		line := s.o.runPeer(script, dir, peer)
		if err := s.round(); err != nil {
			return nil, err
		}
		line.Case, line.N, line.Features, line.Q, line.D = s.record.Case, s.N, s.record.M, s.Q, s.D
		if line.Status == statusOK && line.Seconds > 0 {
			line.Ours = median(s.last(2))
			line.Ratio = line.Seconds / line.Ours
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// runPeer times one peer in a process of its own. Whatever becomes of it is its
// line's status.
func (o *speedFlags) runPeer(script, dir, peer string) peerLine {
	kind, ordinals, _ := parseDevice(o.device) // was checked
	ctx, cancel := context.WithTimeout(context.Background(), peerTime+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.python, script, "bound", dir, "--peer", peer, "--device", kind,
		"--repeats", strconv.Itoa(o.repeats), "--timeout", strconv.Itoa(int(peerTime.Seconds())))
	cmd.WaitDelay = time.Second
	var out, said limited
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Env = os.Environ()
	if len(ordinals) == 1 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("CUDA_VISIBLE_DEVICES=%d", ordinals[0]))
	}
	err := cmd.Run()
	line, ok := readPeer(out.Bytes())
	switch {
	case ok:
	case ctx.Err() != nil:
		line.Status = fmt.Sprintf("time limit: %v", peerTime)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		line.Status = fmt.Sprintf("missing: %v", err)
	default:
		line.Status = fmt.Sprintf("failed: %v: %s", err, lastLine(said.String()))
	}
	line.Peer = peer
	if line.Device == "" {
		line.Device = kind
	}
	return line
}

// readPeer is the last line of JSON that a peer printed.
func readPeer(out []byte) (p peerLine, ok bool) {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &p); err != nil || p.Status == "" {
		return peerLine{}, false
	}
	return p, true
}

// limited keeps the first peerOutput bytes that are written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := peerOutput - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// lastLine is where Python says what was wrong.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// peersError is what the exit status says of peers: a number that differs or a
// failure is one, a library that is missing is not.
func peersError(lines []peerLine) error {
	for _, p := range lines {
		if strings.HasPrefix(p.Status, "disagrees") || strings.HasPrefix(p.Status, "failed") {
			return fmt.Errorf("peer %s: %s", p.Peer, p.Status)
		}
	}
	return nil
}
