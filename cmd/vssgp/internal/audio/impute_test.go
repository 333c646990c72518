package audio

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestChooseMethod checks that every flag of the model selects vssgp and is an error with other methods.
func TestChooseMethod(t *testing.T) {
	chosen := func(method string, given ...string) (*imputeFlags, error) {
		o, f := &imputeFlags{}, pflag.NewFlagSet("impute", pflag.ContinueOnError)
		o.add(f)
		for _, name := range given {
			f.Lookup(name).Changed = true
		}
		if method != "" {
			testkit.OK(t, f.Set("method", method))
		}
		return o, o.choose()
	}
	for method, want := range map[string]restore.Method{"": restore.Mixture, "auto": restore.Mixture, "mixture": restore.Mixture,
		"natural": restore.Natural,
		"ar":      restore.AR, "vssgp": restore.VSSGP, "ssgp": restore.VSSGP, "rp": restore.VSSGP} {
		o, err := chosen(method, "draws", "memory", "report", "sd", "reference", "gap")
		if err != nil || o.fill.Method != want || (o.model.Method != "") != (want == restore.VSSGP) || o.model.Method != "" &&
			o.model.Method != method {
			t.Errorf("--method %q: %q with model %q, %v; want %q", method, o.fill.Method, o.model.Method, err, want)
		}
	}
	all, _ := chosen("")
	flags := 0
	all.ofModel.VisitAll(func(f *pflag.Flag) {
		flags++
		if o, err := chosen("", f.Name); err != nil || o.fill.Method != restore.VSSGP || o.model.Method != "" {
			t.Errorf("--%s chooses %q, %v; want vssgp", f.Name, o.fill.Method, err)
		}
		for _, method := range []string{"mixture", "natural", "ar"} {
			if _, err := chosen(method, f.Name); cli.ExitCode(err) != cli.ExitMistake ||
				!strings.Contains(err.Error(), "--"+f.Name+" applies to --method vssgp") {
				t.Errorf("--method %s --%s: %v, want a mistake", method, f.Name, err)
			}
		}
	})
	if flags < 20 {
		t.Errorf("%d flags belong to the model", flags)
	}
}
