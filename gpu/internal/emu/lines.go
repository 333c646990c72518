//go:build cudaemu && cgo && racekernels

package emu

// #include <stdint.h>
// int64_t race_here();
import "C"

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// program returns the line table of this program and its load offset.
var program = sync.OnceValues(func() (*dwarf.Data, uint64) {
	path, err := os.Executable()
	if err != nil {
		return nil, 0
	}
	file, err := elf.Open(path)
	if err != nil {
		return nil, 0
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		return nil, 0
	}
	lines, err := file.DWARF()
	if err != nil {
		return nil, 0
	}
	for _, s := range symbols {
		if s.Name == "race_here" {
			return lines, uint64(C.race_here()) - s.Value
		}
	}
	return nil, 0
})

// line returns the source line of the instruction before a return address.
func line(pc uint64) string {
	lines, moved := program()
	if lines == nil {
		return fmt.Sprintf("%#x (link with -ldflags='-s=0 -w=0' to see the line)", pc)
	}
	pc -= moved + 1
	unit, err := lines.Reader().SeekPC(pc)
	if err != nil {
		return fmt.Sprintf("%#x", pc)
	}
	reader, err := lines.LineReader(unit)
	if err != nil || reader == nil {
		return fmt.Sprintf("%#x", pc)
	}
	var entry dwarf.LineEntry
	if err := reader.SeekPC(pc, &entry); err != nil {
		return fmt.Sprintf("%#x", pc)
	}
	return fmt.Sprintf("%s:%d", filepath.Base(entry.File.Name), entry.Line)
}
