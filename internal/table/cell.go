package table

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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

// classify returns what a cell is, and its value if it is a number; NaN if it is missing. A comma may be a decimal sign unless it
// separates fields. known is a layout of dates to try first, and the one found; it may be nil.
func classify(s string, delimiter byte, known *layout) (class, float64) {
	switch {
	case s == "" || !isDigit(s[0]) && isMissing(s):
		return missing, math.NaN()
	case looksLikeDate(s) && isDate(s, known):
		return date, 0
	case isLetter(s[0]):
		return text, 0
	}
	if v, ok := parseFinite(s); ok && strings.IndexByte(s, '.') >= 0 {
		return point, v
	} else if ok {
		return whole, v
	}
	if delimiter != ',' && delimiter != 0 && !strings.Contains(s, ".") {
		if v, ok := parseFinite(strings.Replace(s, ",", ".", 1)); ok {
			return comma, v
		}
	}
	return text, 0
}

// isDate reports whether a text is a date, in the known layout or any other.
func isDate(s string, known *layout) bool {
	if known != nil && known.read != "" {
		if _, ok := known.parse(s); ok {
			return true
		}
	}
	all := layoutsOf(s)
	if known != nil && len(all) > 0 {
		*known = all[0]
	}
	return len(all) > 0
}

// isLetter takes all bytes beyond ASCII for letters.
func isLetter(c byte) bool { return c >= utf8.RuneSelf || c|0x20 >= 'a' && c|0x20 <= 'z' }

// isNumber reports whether a field is a number, finite or not, rather than a name. Words that ParseFloat knows ("nan", "Infinity")
// count as numbers, so that a first row with a missing value is not taken for names.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func isWhole(s string) bool {
	c, _ := classify(s, ',', nil)
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

const aDate = " (a date or a time?)"

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
	case strings.ContainsAny(s, "$€£¥%"):
		return " (currency and percent signs are not read)"
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
		return aDate
	case digits && rest != "" && rest != s:
		return " (a unit?)"
	}
	return ""
}
