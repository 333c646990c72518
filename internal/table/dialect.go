package table

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
)

// sniffRecords is how many records decide how a file is written.
const sniffRecords = 200

// separators are tried in this order; of equally good ones the first is taken. 0 is none: a file of one column.
var separators = []byte{'\t', ';', ',', ' ', 0}

// sniff finds how a file is written from its beginning. whole says that the sample is all of it.
func sniff(sample []byte, whole bool) dialect {
	end := byte('\n')
	if !bytes.Contains(sample, []byte{'\n'}) && bytes.IndexByte(sample, '\r') >= 0 {
		end = '\r'
	}
	best, most := dialect{sep: ',', end: end}, -1.0
	for _, sep := range separators {
		d := dialect{sep: sep, end: end}
		rows := sampleRows(sample, whole, d)
		if len(rows) == 0 {
			continue
		}
		if sep != 0 && len(rows[0]) < 2 {
			continue
		}
		d.header = hasHeader(rows, sep)
		if good := goodShare(rows, d); good > most+1e-12 {
			best, most = d, good
		}
	}
	return best
}

// sampleRows reads the first records of a sample. It leaves out the last one where that is cut off.
func sampleRows(sample []byte, whole bool, d dialect) (rows [][]string) {
	r := &records{in: bufio.NewReader(bytes.NewReader(sample)), d: d}
	for len(rows) < sniffRecords {
		if err := r.read(); err != nil {
			if len(rows) == 0 && err != io.EOF { // a quote that is not closed: what stands before it says something
				rows = append(rows, append(slices.Clone(r.fields), ""))
			}
			break
		}
		rows = append(rows, slices.Clone(r.fields))
	}
	if !whole && len(rows) > 1 && len(rows) < sniffRecords {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// goodShare is the share of records with as many fields as the first, times that of cells with numbers, dates or nothing. A file of
// words alone has some share, too.
func goodShare(rows [][]string, d dialect) float64 {
	even, good, cells := 0, 0, 0
	body := rows
	if d.header && len(rows) > 1 {
		body = rows[1:]
	}
	for _, row := range rows {
		if len(row) == len(rows[0]) {
			even++
		}
	}
	for _, row := range body {
		for _, f := range row {
			if c, _ := classify(f, d.sep); c != text {
				good++
			}
			cells++
		}
	}
	return float64(even) / float64(len(rows)) * (0.1 + float64(good)/float64(cells))
}

// hasHeader reports whether the first record holds names. It does where it has a word above a column that is mostly of numbers or
// dates; it does not where a number or a date stands in such a column; else if all of it is words.
func hasHeader(rows [][]string, sep byte) bool {
	first, body := rows[0], rows[1:]
	typed, words := 0, 0
	for i, f := range first {
		c, _ := classify(f, sep)
		switch {
		case c == text && !isNumber(f) && mostlyTyped(body, i, sep), f == "" && mostlyTyped(body, i, sep) &&
			!slices.ContainsFunc(first, isNumber):
			return true
		case c == text && !isNumber(f):
			words++
		case c != missing || isNumber(f):
			typed++
		}
	}
	return typed == 0 || words > 0 && len(body) == 0
}

// mostlyTyped reports whether at least half of a column's cells that are not missing are numbers or dates.
func mostlyTyped(rows [][]string, col int, sep byte) bool {
	var count [classes]int
	for _, row := range rows {
		if col < len(row) {
			c, _ := classify(row[col], sep)
			count[c]++
		}
	}
	typed := count[whole] + count[point] + count[comma] + count[date]
	return typed > 0 && typed >= count[text]
}

// headerNames returns the names in the first record. Columns without one are numbered, as in a file without names.
func headerNames(fields []string) []string {
	names := numbered(len(fields))
	for i, f := range fields {
		if f != "" {
			names[i] = strings.TrimPrefix(f, mark)
		}
	}
	return names
}
