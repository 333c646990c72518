package repocheck

import (
	"regexp"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/version"
)

// TestVersion checks that the places that cannot read the version name the same one: the newest section of
// CHANGELOG.md, and the pages that describe how to install a release.
func TestVersion(t *testing.T) {
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version.Number) { // tags of Go and versions of Python differ in other forms
		t.Errorf("version.Number is %q, must be three numbers", version.Number)
	}
	named := regexp.MustCompile(`(?:vssgp@v|download/v|tag v|(?i:version) |vssgp_)(\d[^\s_/` + "`" + `;]*)`)
	for _, c := range []struct {
		path    string
		pattern *regexp.Regexp
		count   int
	}{
		{"CHANGELOG.md", regexp.MustCompile(`(?s)^.*?\n## (\S+) - (?:Unreleased|\d{4}-\d\d-\d\d)\n`), 1},
		{"README.md", named, 4},
		{"docs/install.md", named, 9},
	} {
		found := c.pattern.FindAllStringSubmatch(readText(t, c.path), -1)
		testkit.Equal(t, len(found), c.count, "versions in ", c.path)
		for _, m := range found {
			testkit.Equal(t, m[1], version.Number, c.path, ": ", m[0])
		}
	}
}
