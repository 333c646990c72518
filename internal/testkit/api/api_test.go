package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"

	// The go command runs the test again if they change.
	_ "github.com/vssgp/vssgp"
	_ "github.com/vssgp/vssgp/audio"
	_ "github.com/vssgp/vssgp/audio/detect"
	_ "github.com/vssgp/vssgp/audio/restore"
	_ "github.com/vssgp/vssgp/backend"
	_ "github.com/vssgp/vssgp/cpu"
	_ "github.com/vssgp/vssgp/gpu"
	_ "github.com/vssgp/vssgp/ranks"
	_ "github.com/vssgp/vssgp/series"
	_ "github.com/vssgp/vssgp/tensors"
)

// TestPromisedAPIIsListed checks that api/vssgp.txt lists the promised API.
func TestPromisedAPIIsListed(t *testing.T) {
	t.Chdir("../../..")
	text := testkit.Must(promisedAPI())(t)
	got, want := strings.Split(text, "\n"), strings.Split(string(testkit.Must(os.ReadFile(file))(t)), "\n")
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("-%s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("+%s", line)
		}
	}
	if t.Failed() {
		t.Errorf("the promised API changed. If it should, run: go run ./internal/testkit/api")
	}
	for _, line := range []string{
		"pkg vssgp, func Load(path string) (*Model, error)",
		"pkg vssgp, method (*Model) Save(path string) error",
		"pkg vssgp, type Params = variational.Params",
		"pkg vssgp/variational, type Params struct, Lengthscale []float64",
		"pkg vssgp/backend, type Backend interface, Name() string",
	} {
		testkit.Equal(t, slices.Contains(got, line), true, line)
	}
}
