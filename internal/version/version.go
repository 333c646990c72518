// Package version has the version of vssgp.
package version

// Number is the version of vssgp, a semantic version without the leading v of its tag. It is defined only here: the
// command prints it, model files contain it, and python/pyproject.toml and .ci/release.py read it from this file.
const Number = "0.1.0"
