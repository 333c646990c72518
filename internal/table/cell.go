package table

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// class is what the text of a cell is.
type class uint8

const (
	missing class = iota
	whole         // a number without a decimal sign
	point         // with a decimal point
	comma         // with a decimal comma
	date
	text
	classes
)

// missingWords are the cells that stand for a missing value besides the empty one, in small letters.
var missingWords = []string{"na", "n/a", "nan", "null", "none", "-", "#n/a", "nat", "?", "."}

func isMissing(s string) bool {
	return s == "" || len(s) <= 4 && slices.ContainsFunc(missingWords, func(w string) bool { return strings.EqualFold(s, w) })
}

// classify says what a cell is, and its value if it is a number; NaN if it is missing.
// Decimal commas are looked for unless they separate fields.
func classify(s string, sep byte) (class, float64) {
	if s == "" {
		return missing, math.NaN()
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9':
	case isMissing(s):
		return missing, math.NaN()
	case c >= utf8Letter || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return text, 0
	}
	if looksLikeDate(s) {
		if _, ok := parseStamp(s); ok {
			return date, 0
		}
	}
	if v, ok := parseFinite(s); ok {
		if strings.IndexByte(s, '.') >= 0 {
			return point, v
		}
		return whole, v
	}
	if sep != ',' && sep != 0 {
		if v, ok := parseComma(s); ok {
			return comma, v
		}
	}
	return text, 0
}

// utf8Letter is the first byte that is not ASCII.
const utf8Letter = 0x80

// parseComma reads a number with a decimal comma.
func parseComma(s string) (float64, bool) {
	if strings.Count(s, ",") != 1 || strings.Contains(s, ".") {
		return 0, false
	}
	return parseFinite(strings.Replace(s, ",", ".", 1))
}

// isNumber reports whether a field is a number, finite or not, rather than a name. Words that ParseFloat knows ("nan", "Infinity")
// count as numbers, so that a first row with a missing value is not taken for names.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func isWhole(s string) bool {
	c, _ := classify(s, ',')
	return c == whole
}

// parseFinite reads a finite decimal number. ParseFloat takes hexadecimal ones, underscores and words, too.
func parseFinite(s string) (v float64, ok bool) {
	for i := range len(s) {
		if c := s[i]; c > '9' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// notNumber says why a text is not a finite decimal number.
func notNumber(s string) string {
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "is beyond the range of float64; want a magnitude below 1.8e308"
	case err == nil && (math.IsNaN(v) || math.IsInf(v, 0)):
		return "is not finite; want a finite number, or leave the row out"
	}
	return "is not a number; want a decimal number such as -0.5 or 1e-3" + likely(s)
}

// appendNumber writes v with the fewest digits that identify it, and with an exponent only where that is easier to read.
func appendNumber(b []byte, v float64) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, v, format, -1, 64)
}

// likely guesses why a text is not a number.
func likely(s string) string {
	digits := strings.ContainsFunc(s, unicode.IsDigit)
	// Without groups of three digits, is it a number?
	grouped, group := false, strings.NewReplacer(",", "", "'", "", "’", "", " ", "", "\u00a0", "", "\u202f", "").Replace(s)
	if group != s && !strings.ContainsAny(s, ";\t") {
		_, grouped = parseFinite(group)
	}
	rest := strings.TrimLeft(strings.TrimLeft(s, "+-"), "0123456789.,")
	switch {
	case !digits && s != "":
		return " (a footer, a unit, or another word for a missing value, NA?)"
	case strings.Count(s, ",") == 1 && !strings.Contains(s, ".") && grouped && !strings.Contains(s, " "):
		return " (a decimal comma or a thousands separator?)"
	case grouped, strings.Count(s, ".") > 1 && isWhole(strings.ReplaceAll(s, ".", "")), strings.Contains(s, ".") &&
		strings.Contains(s, ","):
		return " (a thousands separator?)"
	case strings.ContainsAny(s, ";\t|"):
		return " (another separator?)"
	case strings.HasPrefix(s, "\u2212"):
		return " (its minus is not an ASCII -)"
	case looksLikeDate(s) || strings.Count(s, ":") > 0 || strings.Count(s, "-") > 1 || strings.Count(s, "/") > 1:
		return " (a date or a time?)"
	case digits && rest != "" && rest != s:
		return " (a unit?)"
	}
	return ""
}
