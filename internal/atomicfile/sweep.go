package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
)

// Ends of the hidden files' names.
const (
	tempEnd   = ".tmp"
	backupEnd = ".old"
	idDigits  = 16
)

// sweep removes the files that killed processes have left beside these targets: temporary files that no live process has locked, and
// the links to the files that they were to replace.
func sweep(targets []string) {
	if !locks {
		return
	}
	names := map[string][]string{} // of each folder
	for _, target := range targets {
		folder, base := filepath.Split(target)
		list, seen := names[folder]
		if !seen {
			if d, err := os.Open(filepath.Dir(target)); err == nil { // folder is "" where the target is a bare name
				list, _ = d.Readdirnames(-1)
				d.Close()
			}
			names[folder] = list
		}
		for _, name := range list {
			if temp, ok := strings.CutSuffix(name, backupEnd); ok && isTemp(temp, base) {
				if !live(folder+temp) && !live(target) {
					os.Remove(folder + name)
				}
			} else if isTemp(name, base) {
				removeDead(folder + name)
			}
		}
	}
}

// isTemp reports whether name is one of create's for a target of the given base name.
func isTemp(name, base string) bool {
	id, ok := strings.CutPrefix(name, "."+short(base)+".")
	if !ok {
		return false
	}
	id, ok = strings.CutSuffix(id, tempEnd)
	return ok && len(id) == idDigits && strings.Trim(id, "0123456789abcdef") == ""
}

// live reports whether a process has the file at path locked. What cannot be opened counts as dead: it is not there.
func live(path string) bool {
	f, err := openPlain(path)
	if err != nil {
		return false
	}
	defer f.Close()
	held, _ := flock(f)
	return held
}

// removeDead removes a temporary file if its process is gone. It does so under the file's lock: a process that has just made it finds it
// taken or gone and makes another.
func removeDead(path string) {
	f, err := openPlain(path)
	if err != nil {
		return
	}
	defer f.Close()
	if _, err := flock(f); err == nil {
		os.Remove(path)
	}
}

// openPlain opens a regular file, for its lock.
func openPlain(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	return os.Open(path)
}
