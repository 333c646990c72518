package fileio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Suffixes of the names of hidden files.
const (
	tempEnd   = ".tmp"
	backupEnd = ".old"
	idDigits  = 16
)

// sweep removes the files that killed processes left in the folders of the given paths: temporary files that no live process has locked,
// and backups of replaced files. The process of a backup has locked its temporary file, which after the rename is the file at path.
func sweep(paths []string) {
	if !locks {
		return
	}
	entries := map[string][]os.DirEntry{} // by folder
	for _, path := range paths {
		folder := filepath.Dir(path)
		if _, seen := entries[folder]; !seen {
			entries[folder], _ = os.ReadDir(folder)
		}
		for _, e := range entries[folder] {
			name, isBackup := strings.CutSuffix(e.Name(), backupEnd)
			if !isTemp(name, filepath.Base(path)) {
				continue
			}
			unlessLive(filepath.Join(folder, name), func() {
				remove := func() { os.Remove(filepath.Join(folder, e.Name())) }
				if isBackup {
					unlessLive(path, remove)
				} else {
					remove()
				}
			})
		}
	}
}

// isTemp reports whether create could have given this name to a temporary file for base.
func isTemp(name, base string) bool {
	id, ok := strings.CutPrefix(name, "."+short(base)+".")
	if !ok {
		return false
	}
	id, ok = strings.CutSuffix(id, tempEnd)
	return ok && len(id) == idDigits && strings.Trim(id, "0123456789abcdef") == ""
}

// unlessLive calls fn if there is no file at path, or if no process has locked it; fn then runs under the file's lock. A process that has
// just created the file finds it locked or removed, and creates another.
func unlessLive(path string, fn func()) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		fn()
		return
	}
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if _, err := flock(f); err == nil {
		fn()
	}
}
