// Package serve has the command serve, and the frames that it exchanges with a program.
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

// New returns the command serve, which answers calls by answer.
func New(env *cli.Env, answer Answerer) *cobra.Command {
	return env.Command(&cobra.Command{
		Use:   "serve",
		Short: "Execute command lines from stdin, for programs",
		Long: `Executes command lines that a program, such as the Python package, writes to stdin, one
after the other, and answers each on stdout. Input files come with a call, and outputs
go back with its answer: nothing is read from a disk, or written to one.

A frame is 8 bytes (little-endian: the length of the JSON), a JSON object, and the bytes
of its files. A call has "args", the command line without vssgp, and "files", a list of
objects with a "name" and a "size" in bytes. An answer has the exit "code", the "error"
that belongs to it, "stdout", and "files". Before it come any number of frames with a
"note" each: what the command writes to stderr. The first frame of all has the "version".

The end of stdin ends the command that is being executed, and serve.`,
		Example: `  vssgp serve`,
	}, func(ctx context.Context, _ []string) error {
		if env.Served != nil {
			return cli.Mistake("serve: it is running already; give another command")
		}
		if env.Device.Job != nil {
			return cli.Mistake("serve does not run in a job of mpirun; start it alone")
		}
		signal.Ignore(os.Interrupt) // ^C of a terminal is the program's to handle
		return Serve(ctx, env.Stdin, env.Stdout, env.Version, answer)
	})
}

// late is how long a command may take to end after stdin has.
const late = 2 * time.Second

// Serve answers calls until in ends.
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
				if in == io.Reader(os.Stdin) { // the caller is gone
					select {
					case <-time.After(late):
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
			tidy(f)
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

// A sender writes frames, one at a time.
type sender struct {
	mu sync.Mutex
	to io.Writer
}

func (s *sender) send(f *Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.Write(s.to)
}

// Write sends what a command writes to stderr.
func (s *sender) Write(b []byte) (int, error) {
	if err := s.send(&Frame{Note: string(b)}); err != nil {
		return 0, err
	}
	return len(b), nil
}

// tidy gives the memory of a large call back to the system, as the next one may be long in coming.
func tidy(f *Frame) {
	const large = 16 << 20
	var held int64
	for i, file := range f.Files {
		held += file.Size
		f.Files[i].Content = nil
	}
	if held > large {
		debug.FreeOSMemory()
	}
}
