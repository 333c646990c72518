package audio

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/fileio"
)

// A journal lists the recordings of a folder that were repaired, so that --resume can skip them. It is a hidden
// file in the output folder.
type journal struct {
	path     string
	settings string           // flags of this run that change outputs, and the version of the command
	entries  map[string]entry // by the name of the recording
}

// An entry describes a repaired recording.
type entry struct {
	Settings string           `json:"settings"`
	Files    map[string]state `json:"files"` // the recording, its other inputs and its outputs, by path
}

// A state identifies a version of a file. It is zero if the file does not exist, such as --sd of a recording
// without damage.
type state struct {
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// journalName is the name of a journal.
const journalName = ".vssgp-repair.json"

// unimportant are flags that do not change the outputs of a recording.
var unimportant = []string{"json", "memory", "out-dir", "overwrite", "progress", "quiet", "resume"}

// openJournal reads the journal of an output folder. A missing or invalid journal is empty.
func openJournal(env *cli.Env, folder string) *journal {
	j := &journal{path: filepath.Join(folder, journalName), entries: map[string]entry{}}
	var all []string
	env.Flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(unimportant, f.Name) {
			all = append(all, "--"+f.Name+"="+f.Value.String())
		}
	})
	j.settings = strings.Join(append(all, env.Version), " ")
	if text, err := os.ReadFile(j.path); err != nil || json.Unmarshal(text, &j.entries) != nil || j.entries == nil {
		j.entries = map[string]entry{}
	}
	return j
}

// stateOf returns the state of a file.
func stateOf(path string) (state, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return state{}, err
	}
	return state{info.Size(), info.ModTime().UTC()}, nil
}

// has reports whether a recording was repaired with the same settings, and none of its files has changed since.
func (j *journal) has(recording string, files []string) bool {
	e, ok := j.entries[filepath.Base(recording)]
	if !ok || e.Settings != j.settings || len(e.Files) != len(files) {
		return false
	}
	for _, path := range files {
		if s, err := stateOf(path); err != nil || e.Files[path] != s {
			return false
		}
	}
	return true
}

// add adds a repaired recording with its files and writes the journal.
func (j *journal) add(recording string, files []string) error {
	e := entry{j.settings, map[string]state{}}
	for _, path := range files {
		s, err := stateOf(path)
		if err != nil {
			return err
		}
		e.Files[path] = s
	}
	j.entries[filepath.Base(recording)] = e
	return fileio.Write(j.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(j.entries) })
}
