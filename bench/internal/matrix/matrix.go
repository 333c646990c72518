// Package matrix reads and writes tables of numbers.
package matrix

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp/internal/fileio"
)

// A Matrix is a table of Rows × Cols numbers, with a name for each column. Data is row-major.
type Matrix struct {
	Names      []string
	Rows, Cols int
	Data       []float64
}

// Read reads a CSV file whose first line has the names of the columns. An empty cell is NaN, and a date is its time in
// days since 1970.
func Read(path string) (*Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) < 2 {
		return nil, fmt.Errorf("%s: the table has no rows", path)
	}

	m := &Matrix{Names: records[0], Rows: len(records) - 1, Cols: len(records[0])}
	for i, cells := range records[1:] {
		for _, cell := range cells {
			v, err := number(strings.TrimSpace(cell))
			if err != nil {
				return nil, fmt.Errorf("%s: row %d: %q is not a number", path, i+1, cell)
			}
			m.Data = append(m.Data, v)
		}
	}
	return m, nil
}

// ReadFull reads a CSV file in which no cell may be empty.
func ReadFull(path string) (*Matrix, error) {
	m, err := Read(path)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(m.Data, math.IsNaN); i >= 0 {
		return nil, fmt.Errorf("%s: row %d has no value of %s", path, i/m.Cols+1, m.Names[i%m.Cols])
	}
	return m, nil
}

// number returns the value of a cell.
func number(cell string) (float64, error) {
	const secondsPerDay = 86400
	if cell == "" {
		return math.NaN(), nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime} {
		if t, err := time.Parse(layout, cell); err == nil {
			return float64(t.Unix()) / secondsPerDay, nil
		}
	}
	return strconv.ParseFloat(cell, 64)
}

// WriteCSV writes a CSV file with the names of the columns and the rows of data.
func WriteCSV(path string, names []string, data []float64) error {
	return fileio.Write(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		if err := out.Write(names); err != nil {
			return err
		}
		for row := range slices.Chunk(data, len(names)) {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
			if err := out.Write(cells); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	})
}

// WriteNPY writes an array of the given shape, row-major, as NumPy's NPY.
func WriteNPY(path string, shape []int, data []float64) error {
	return fileio.Write(path, func(w io.Writer) error {
		sizes := ""
		for _, n := range shape {
			sizes += strconv.Itoa(n) + ", "
		}
		head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", sizes)
		const prefix = 10 // bytes of magic, version and length; the data begin at a multiple of 64
		head += strings.Repeat(" ", 63-(prefix+len(head))%64) + "\n"

		b := bufio.NewWriter(w)
		b.WriteString("\x93NUMPY\x01\x00")
		b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(head))))
		b.WriteString(head)
		if err := binary.Write(b, binary.LittleEndian, data); err != nil {
			return err
		}
		return b.Flush()
	})
}
