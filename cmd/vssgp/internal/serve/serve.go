// Package serve implements the command serve and its protocol.
package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
)

// New returns the command serve, which executes requests with answer.
func New(env *cli.Env, answer Answerer) *cobra.Command {
	return env.Command(&cobra.Command{
		Use:   "serve",
		Short: "Execute command lines from stdin for another program",
		Long: `Reads requests from stdin, executes each as a command line, and writes the responses to
stdout. Programs such as the Python package use it. Input files are sent with a request,
and outputs are returned with its response. The command accesses no other files.

A message is the length of a JSON object (8 bytes, little-endian), the object, and the
bytes of its files. A request has "args", the command line without vssgp, and "files", a
list of objects with a "name" and a "size" in bytes. A response has the exit "code", the
"error" message, "stdout" and "files". Messages with a "note" may precede a response. They
contain the output of the command on stderr. The first message has the "version".

The end of stdin ends the running command and serve.`,
		Example: `  vssgp serve`,
	}, func(ctx context.Context, _ []string) error {
		if env.Served != nil {
			return cli.Mistake("serve is already running; give another command")
		}
		if env.Device.Job != nil {
			return cli.Mistake("serve cannot run under mpirun")
		}
		signal.Ignore(os.Interrupt) // the calling program handles ^C
		return Serve(ctx, env.Stdin, env.Stdout, env.Version, answer)
	})
}

// exitTimeout is the maximum time that a command can run after the end of stdin.
const exitTimeout = 2 * time.Second

// Serve sends the version and executes requests from in, one at a time. An invalid frame is a usage error.
func Serve(ctx context.Context, in io.Reader, out io.Writer, version string, answer Answerer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	calls, failed, over := make(chan *Frame), make(chan error, 1), make(chan struct{})
	defer close(over)
	go func() {
		from := bufio.NewReader(in)
		for {
			f, err := ReadFrame(from)
			if err != nil {
				failed <- err
				stop()
				if in == io.Reader(os.Stdin) { // the calling program has ended
					select {
					case <-time.After(exitTimeout):
						os.Exit(cli.ExitInterrupted)
					case <-over:
					}
				}
				return
			}
			select {
			case calls <- f:
			case <-ctx.Done():
				return
			}
		}
	}()
	to := &sender{to: out}
	if err := to.send(&Frame{Version: version}); err != nil {
		return err
	}
	for {
		select {
		case f := <-calls:
			if err := to.send(answer(ctx, f, to)); err != nil {
				return err
			}
			releaseMemory(f)
		case err := <-failed:
			if errors.Is(err, errFrame) {
				return cli.Mistake("%w", err)
			}
			if !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
	}
}

// A sender writes frames. It is safe for concurrent use.
type sender struct {
	mu sync.Mutex
	to io.Writer
}

func (s *sender) send(f *Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.Write(s.to)
}

// Write sends output of a command on stderr as a note.
func (s *sender) Write(b []byte) (int, error) {
	if err := s.send(&Frame{Note: string(b)}); err != nil {
		return 0, err
	}
	return len(b), nil
}

// releaseMemory returns the memory of a large request to the system, because the next request may be much later.
func releaseMemory(f *Frame) {
	const large = 16 << 20
	var size int64
	for i, file := range f.Files {
		size += file.Size
		f.Files[i].Content = nil
	}
	if size > large {
		debug.FreeOSMemory()
	}
}
