// Package repocheck tests the repository as a whole: the layers of imports, comments of exported
// names, users and examples of the promised API, and files named in comments. It contains only tests.
package repocheck
