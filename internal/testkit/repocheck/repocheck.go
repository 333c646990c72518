// Package repocheck has the tests that look at the repository as a whole: which
// package imports which, that no files of a package reach one another in a
// circle, that every exported name has a comment, and that the files that
// comments name are there. It holds no code but for them.
package repocheck
