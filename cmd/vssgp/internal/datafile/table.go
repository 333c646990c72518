package datafile

import (
	"context"
	"io"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/table"
)

// IsTable reports whether a path names a table: by its extension, or because it is stdin.
func IsTable(path string) bool { return slices.Contains(cli.TableFiles, cli.FormatOf(path)) }

// OpenTable opens the table at a path, or on stdin, and reads the names of its columns.
func OpenTable(ctx context.Context, env *cli.Env, path string) (*table.Stream, error) {
	f, err := tableFile(ctx, env, path)
	if err != nil {
		return nil, err
	}
	return table.OpenStream(ctx, f)
}

func tableFile(ctx context.Context, env *cli.Env, path string) (*table.File, error) {
	if env.Served != nil {
		f, err := env.Served.File(path)
		if err != nil {
			return nil, err
		}
		return table.In(f, f.Size(), path), nil
	}
	if path != cli.FromStdin {
		return table.At(path)
	}
	if env.Spooled == nil {
		var err error
		if env.Spooled, err = cli.Spool(ctx, env.Stdin); err != nil {
			return nil, err
		}
	}
	info, err := env.Spooled.Stat()
	if err != nil {
		return nil, err
	}
	return table.In(env.Spooled, info.Size(), cli.InputName(path)), nil
}

// A dataset is data with the axes of their inputs, nil for those of a recording.
type Dataset struct {
	*vssgp.Data
	Axes []*table.Axis
}

// readTable reads the chosen columns of a table. like are the axes of a model; nil if there is none. Rows without
// all outputs are left out.
func readTable(ctx context.Context, env *cli.Env, path string, c Columns, choose chooser, like []*table.Axis) (*Dataset, error) {
	s, err := OpenTable(ctx, env, path)
	if err != nil {
		return nil, err
	}
	path = cli.InputName(path)
	if err := c.rename(s); err != nil {
		return nil, err
	}
	if err := c.survey(ctx, s); err != nil {
		return nil, err
	}
	chosen, err := choose(s, path)
	if err != nil {
		return nil, err
	}
	if left := c.LeftOut(s, chosen); left != "" && like == nil { // a model's own columns are no surprise
		env.Note("%s: left out %s; choose with --x and --y", path, left)
	}
	axes, picks, err := AxesOf(s, chosen, like)
	if err != nil {
		return nil, err
	}
	q, d := len(chosen.X), len(chosen.Y)
	data := &Dataset{&vssgp.Data{Q: q, D: d, XNames: NamesOf(s, chosen.X), YNames: NamesOf(s, chosen.Y)}, axes}
	for part, err := range s.Parts(ctx, picks) {
		if err != nil {
			return nil, err
		}
		for ; len(part) > 0; part = part[q+d:] {
			if y := part[q : q+d]; !slices.ContainsFunc(y, math.IsNaN) {
				data.X, data.Y = append(data.X, part[:q]...), append(data.Y, y...)
				data.N++
			}
		}
	}
	if lost := s.Rows - data.N; data.N == 0 {
		return nil, cli.Mistake("%s: no row has a value of %s; want some", path, Listed(data.YNames))
	} else if lost > 0 {
		env.Note("%s: left out %s of %d that have no value of %s", path, cli.Counted(lost, "row"), s.Rows, Listed(data.YNames))
	}
	return data, nil
}

// NewTable writes a table in the format of a path: its first columns on the axes.
func NewTable(w io.Writer, path string, shape []int, names []string, axes []*table.Axis) (table.Writer, error) {
	switch cli.FormatOf(path) {
	case "npy":
		return table.NewNPYWriter(w, shape)
	case "tsv":
		return table.NewTextWriter(w, names, '\t', axes)
	}
	return table.NewTextWriter(w, names, ',', axes)
}
