// Package matrix reads and writes plain tables of numbers, for benchmarks and tests. It shares no code with the tables of the command, whose
// tests read their outputs with it.
package matrix

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
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

// Read reads a CSV file whose first line has the names of the columns, or the file of WriteNPY if the name ends in .npy. An empty cell is
// NaN, and a date is its time in days since 1970.
func Read(path string) (*Matrix, error) {
	if strings.HasSuffix(path, ".npy") {
		return readNPY(path)
	}
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

// tuple matches the shape of an NPY file of one or two dimensions.
var tuple = regexp.MustCompile(`'descr': '<f8', 'fortran_order': False, 'shape': \((\d+),(?: (\d+))?,?\s*\)`)

// readNPY reads an NPY file of one or two dimensions. The columns have no names.
func readNPY(path string) (*Matrix, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	const prefix = 10
	shape := tuple.FindSubmatch(text[:min(len(text), 128)])
	if shape == nil {
		return nil, fmt.Errorf("%s: no NPY header of one or two dimensions", path)
	}
	m := &Matrix{Cols: 1}
	m.Rows, _ = strconv.Atoi(string(shape[1]))
	if shape[2] != nil {
		m.Cols, _ = strconv.Atoi(string(shape[2]))
	}
	values := text[min(len(text), prefix+int(binary.LittleEndian.Uint16(text[8:prefix]))):]
	if len(values) != 8*m.Rows*m.Cols {
		return nil, fmt.Errorf("%s: %d bytes of values, must be %d", path, len(values), 8*m.Rows*m.Cols)
	}
	m.Data = make([]float64, m.Rows*m.Cols)
	_, err = binary.Decode(values, binary.LittleEndian, m.Data)
	return m, err
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
