package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// scripts contains the scripts that time peers. They are embedded so that the program works without its sources.
//
//go:embed peers/*.py
var scripts embed.FS

// peerNames lists the libraries of speed.py, the covariances of celerite.py, and mapPeers.
var peerNames = append([]string{"numpy", "jax", "torch", "celerite4", "celerite20"}, mapPeers...)

// mapPeers lists the methods of maps.py, which documents them.
var mapPeers = []string{"gp1000", "efgp", "ski", "svgp"}

// celerite maps a peer to the flags of celerite.py: J = 4 with gradient, and J = 20 without, because celerite2's
// gradient is then wrong.
var celerite = map[string][]string{"celerite4": {"--terms", "2", "--mode", "gradient"}, "celerite20": {"--terms", "10", "--mode", "value"}}

// A peerLine is the output of a script in peers, which documents its fields, with the case of our line and the ratio to
// our time.
type peerLine struct {
	Peer      string      `json:"peer"`
	Mode      string      `json:"mode,omitempty"` // what an evaluation computes, if it is not our bound
	Device    string      `json:"device"`
	Version   string      `json:"version,omitempty"`
	Case      string      `json:"case,omitempty"`
	N         int         `json:"n"`
	Features  int         `json:"features"`
	Q         int         `json:"inputs,omitempty"`
	D         int         `json:"outputs,omitempty"`
	First     float64     `json:"first_seconds,omitempty"`
	Seconds   float64     `json:"seconds_per_evaluation,omitempty"`
	Range     *[2]float64 `json:"seconds_range,omitempty"`
	Ours      float64     `json:"ours_seconds,omitempty"` // our median in the rounds before and after the peer
	Ratio     float64     `json:"ratio,omitempty"`        // Seconds over Ours; above 1, ours is faster
	Bound     *float64    `json:"bound,omitempty"`
	BoundOff  *float64    `json:"bound_difference,omitempty"`
	GradOff   *float64    `json:"gradient_difference,omitempty"`
	GradWorst string      `json:"gradient_worst,omitempty"`
	TFlops    float64     `json:"tflops,omitempty"`            // of mode rates, as is GBytes
	GBytes    float64     `json:"gbytes_per_second,omitempty"` // rate of a copy
	Peak      int64       `json:"peak_bytes,omitempty"`
	Status    string      `json:"status"`
}

// withScript calls f with a temporary folder that contains the scripts, and the path of one of them.
func withScript(name string, f func(dir, script string) error) (err error) {
	dir, err := os.MkdirTemp("", "vssgp-peers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.CopyFS(dir, scripts); err != nil {
		return err
	}
	return f(dir, filepath.Join(dir, "peers", name))
}

// runPeer runs a script with a Python interpreter and returns the last line that it prints. If there is none, the
// status is the error. The interpreter may take an additional minute to start.
func runPeer(ctx context.Context, limit time.Duration, env []string, python string, args ...string) peerLine {
	within, cancel := context.WithTimeout(ctx, limit+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(within, python, args...)
	cmd.Env = append(os.Environ(), env...)
	out, stderr, err := output(cmd)
	line, ok := readPeer(out)
	switch {
	case ok:
	case within.Err() != nil:
		line.Status = fmt.Sprintf("time limit: %v", limit)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		line.Status = fmt.Sprintf("missing: %v", err)
	default:
		line.Status = fmt.Sprintf("failed: %v: %s", err, lastLine([]byte(stderr)))
	}
	return line
}

// readPeer parses the last line that a peer printed.
func readPeer(out []byte) (p peerLine, ok bool) {
	if err := json.Unmarshal(lastLine(out), &p); err != nil || p.Status == "" {
		return peerLine{}, false
	}
	return p, true
}

// output runs a command and returns its standard output and standard error.
func output(cmd *exec.Cmd) (out []byte, stderr string, err error) {
	cmd.WaitDelay = time.Second
	var text strings.Builder
	cmd.Stderr = &text
	out, err = cmd.Output()
	return out, text.String(), err
}

// lastLine returns the last line that is not empty. It contains a program's result or Python's error.
func lastLine(out []byte) []byte {
	out = bytes.TrimSpace(out)
	return out[bytes.LastIndexByte(out, '\n')+1:]
}

// peersError returns an error if a peer failed or disagreed with our result. A missing library is not an error.
func peersError(lines []peerLine) error {
	for _, p := range lines {
		if strings.HasPrefix(p.Status, "disagrees") || strings.HasPrefix(p.Status, "failed") {
			return fmt.Errorf("peer %s: %s", p.Peer, p.Status)
		}
	}
	return nil
}
