package cli

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/internal/version"
	"github.com/vssgp/vssgp/ranks"
)

// versionInfo is the output of `vssgp version`.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // the commit of the build
	Modified bool   `json:"modified,omitempty"` // built from a modified working tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Format   string `json:"model_format"`  // the newest that this version writes
	MPI      string `json:"mpi,omitempty"` // the library, in builds with -tags mpi
}

// A ModelFile identifies a model file in the output of info --json.
type ModelFile struct {
	Path    string `json:"model"`
	Version string `json:"version,omitempty"` // of vssgp that wrote the file; empty before 0.1.0
}

// NewVersion returns the command version.
func NewVersion(env *Env) *cobra.Command {
	return env.Command(&cobra.Command{
		Use:         "version",
		Short:       "Print the version of this build",
		Example:     `  vssgp version`,
		Annotations: map[string]string{onlyCommon: "json help"},
	}, func(context.Context, []string) error {
		v := ReadVersion()
		if env.JSON {
			return env.PrintJSON(v)
		}
		fmt.Fprintln(env.Stdout, v)
		return nil
	})
}

// pseudoVersion matches a module version without a tag, which ends with the time and the beginning of the commit.
var pseudoVersion = regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})$`)

// commitOf returns the beginning of the commit of a module version, or "" if the version is a tag.
func commitOf(version string) string {
	if of := pseudoVersion.FindStringSubmatch(version); of != nil {
		return of[1]
	}
	return ""
}

// ReadVersion returns the build information of the binary.
func ReadVersion() versionInfo {
	v := versionInfo{Version: version.Number, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Format: "vssgp/2"}
	v.MPI, _ = ranks.MPI()
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Revision = commitOf(b.Main.Version) // in a build by go install …@main; a build in a clone has vcs.revision
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String returns the line that is printed without --json.
func (v versionInfo) String() string {
	words := []string{"vssgp", v.Version}
	if v.Revision != "" {
		words = append(words, v.Revision)
	}
	if v.Modified {
		words = append(words, "(modified)")
	}
	mpi := "without MPI"
	if v.MPI != "" {
		mpi = "with " + v.MPI
	}
	return strings.Join(append(words, v.Go, v.Platform, mpi), " ")
}
