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

// class classifies the text of a cell.
type class uint8

const (
	missing class = iota
	whole         // a number without a decimal sign
	point         // a number with a decimal point
	comma         // a number with a decimal comma
	date
	decorated // a number in a form that is not read, such as $5 or 1'974
	text
	classes
)

// missingWords are the texts of a missing value, in lower case. An empty cell is also missing.
var missingWords = []string{"na", "n/a", "nan", "null", "none", "-", "#n/a", "nat", "?", "."}

func isMissing(s string) bool {
	return s == "" || len(s) <= 4 && slices.ContainsFunc(missingWords, func(w string) bool { return strings.EqualFold(s, w) })
}

// classify returns the class of a cell and, for a number, its value, NaN for a missing cell. A comma may be a decimal sign unless it
// separates fields. known is a layout of dates to try first, and classify sets it to the layout found. It may be nil.
func classify(s string, delimiter byte, known *layout) (class, float64) {
	switch {
	case s == "" || !isDigit(s[0]) && isMissing(s):
		return missing, math.NaN()
	case looksLikeDate(s) && isDate(s, known):
		return date, 0
	case isLetter(s[0]) && s[0] < utf8.RuneSelf:
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
	if isDecorated(s) {
		return decorated, 0
	}
	return text, 0
}

// currencies and percents are the signs before and after a number that are not read.
const currencies, percents = "$€£¥", "%‰"

// isDecorated reports whether a text is a number with thousands separators, a sign of a currency or percent,
// parentheses, or a minus that is not ASCII.
func isDecorated(s string) bool {
	if len(s) > 40 || !strings.ContainsAny(s[len(s)-1:], "0123456789)., ") &&
		!strings.ContainsAny(s, currencies+percents) {
		return false
	}
	if inner, ok := strings.CutPrefix(s, "("); ok && strings.HasSuffix(inner, ")") {
		s = inner[:len(inner)-1]
	}
	const around = "+-\u2212\u2013 \u00a0\u202f"
	s = strings.TrimRight(strings.TrimLeft(s, around+currencies), around+currencies+percents)
	if s == "" || !isDigit(s[0]) && s[0] != '.' && s[0] != ',' {
		return false
	}
	for _, decimal := range []byte{'.', ','} {
		if _, _, ok := grouped(s, decimal, 2); ok { // 19,74,001 as in India
			return true
		}
	}
	return false
}

// separators are the thousands separators except the comma and the point.
var separators = []string{"'", "’", " ", "\u00a0", "\u202f", "\u2009"}

// grouped parses a number with the given decimal sign that may have thousands separators. It accepts a minus that
// is not ASCII. Groups of digits between separators have at least the given length, and the last has three digits.
func grouped(s string, decimal byte, least int) (kind class, v float64, ok bool) {
	other := map[byte]string{'.': ",", ',': "."}[decimal]
	if rest, minus := strings.CutPrefix(s, "\u2212"); minus {
		s = "-" + rest
	}
	integer, fraction, fractional := strings.Cut(s, string(decimal))
	for _, separator := range append([]string{other}, separators...) {
		groups := strings.Split(integer, separator)
		if len(groups) == 1 {
			continue
		}
		for i, g := range groups {
			if i == 0 {
				g = strings.TrimLeft(g, "+-")
			}
			if len(g) == 0 || len(g) > 3 || i > 0 && len(g) < least || i == len(groups)-1 && len(g) < 3 ||
				strings.Trim(g, "0123456789") != "" {
				return text, 0, false
			}
		}
		integer = strings.Join(groups, "")
		break
	}
	kind = whole
	if fractional {
		kind, integer = map[byte]class{'.': point, ',': comma}[decimal], integer+"."+fraction
	}
	v, ok = parseFinite(integer)
	return kind, v, ok
}

// eitherSign reports whether the comma or point of a number may be a decimal sign or a thousands separator, as in
// 1,974.
func eitherSign(s string) bool {
	s = strings.TrimLeft(s, "+-")
	at := strings.IndexAny(s, ",.")
	return at >= 1 && at <= 3 && s[0] != '0' && len(s) == at+4 && strings.Trim(s[at+1:], "0123456789") == ""
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

// isLetter reports whether a byte is a letter. It treats all bytes outside of ASCII as letters.
func isLetter(c byte) bool { return c >= utf8.RuneSelf || c|0x20 >= 'a' && c|0x20 <= 'z' }

// isNumber reports whether a field is a number rather than a name. Words that ParseFloat accepts ("nan", "Infinity") are numbers, so that
// a first row with a missing value is not read as names.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func isWhole(s string) bool {
	c, _ := classify(s, ',', nil)
	return c == whole
}

// parseFinite parses a finite decimal number. Unlike ParseFloat, it rejects hexadecimal numbers, underscores and words.
func parseFinite(s string) (v float64, ok bool) {
	for i := range len(s) {
		if c := s[i]; c > '9' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// maxNumber is the maximum magnitude of a number. Its square is finite.
const maxNumber = 1e150

const tooLarge = "is too large; the magnitude must be at most 1e150; use a larger unit"

// notNumber returns the end of an error for a text that is not a finite decimal number.
func notNumber(s string) string {
	v, err := strconv.ParseFloat(s, 64)
	_, finite := parseFinite(s)
	switch {
	case finite: // with --decimal comma
		return "is not a number with a decimal comma" + howToDecide(s)
	case errors.Is(err, strconv.ErrRange):
		return tooLarge
	case err == nil && (math.IsNaN(v) || math.IsInf(v, 0)):
		return "is not finite; must be a finite number, or remove the row"
	}
	return "is not a number; must be a decimal number such as -0.5 or 1e-3" + likely(s)
}

// appendNumber appends v with the fewest digits that identify it, and with an exponent only for very small or large magnitudes.
func appendNumber(b []byte, v float64) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, v, format, -1, 64)
}

// howToDecide returns the end of an error about the decimal sign of numbers. It names the flags with which all of them
// can be read.
func howToDecide(all ...string) string {
	atPoint, atComma := true, true
	for _, s := range all {
		_, _, point := grouped(s, '.', 3)
		_, _, comma := grouped(s, ',', 3)
		atPoint, atComma = atPoint && point, atComma && comma
	}
	switch {
	case atPoint && atComma:
		return "; use --decimal comma or --decimal point"
	case atPoint:
		return "; use --decimal point"
	case atComma:
		return "; use --decimal comma"
	}
	return ""
}

// startsAsNumber reports whether a text is not a date and begins with a digit in any script, after signs and
// currencies.
func startsAsNumber(s string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, "+-\u2212\u2013( "+currencies))
	return unicode.IsDigit(first) && !resemblesDate(s)
}

// resemblesDate reports whether a text is probably a date or a time in a layout that is not read. Unlike a number with
// a unit, such as 1500 kg, it ends with a digit, has the name of a month, or has two separators.
func resemblesDate(s string) bool {
	return looksLikeDate(s) && isDigit(s[len(s)-1]) || spelledPeriod(s) || strings.Count(s, ":") > 0 ||
		strings.Count(s, "-") > 1 || strings.Count(s, "/") > 1
}

const (
	aDate = " (a date or a time?)"
	aWord = " (a footer, a unit, or another word for a missing value, NA?)"
)

// isWord reports whether a text is not similar to a number or a date.
func isWord(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	why := likely(s)
	return errors.Is(err, strconv.ErrSyntax) && (why == "" || why == aWord)
}

// likely returns a remark with the likely reason why a text is not a number, "" if none is known.
func likely(s string) string {
	digits := strings.ContainsFunc(s, unicode.IsDigit)
	// grouped reports whether the text is a number without its thousands separators.
	grouped, group := false, strings.NewReplacer(",", "", "'", "", "’", "", " ", "", "\u00a0", "", "\u202f", "").Replace(s)
	if group != s && !strings.ContainsAny(s, ";\t") {
		_, grouped = parseFinite(group)
	}
	rest := strings.TrimLeft(strings.TrimLeft(s, "+-"), "0123456789.,")
	switch {
	case !digits && s != "":
		return aWord
	case strings.ContainsAny(s, currencies+percents):
		return " (currency and percent signs are not supported)"
	case grouped && strings.Contains(s, ",") && howToDecide(s) == "": // 1,00,000 as in India
		return " (a thousands separator?); remove the separators, because groups must have three digits"
	case strings.Count(s, ",") == 1 && !strings.Contains(s, ".") && grouped && !strings.Contains(s, " "):
		return " (a decimal comma or a thousands separator?)" + howToDecide(s)
	case grouped, strings.Count(s, ".") > 1 && isWhole(strings.ReplaceAll(s, ".", "")), strings.Contains(s, ".") &&
		strings.Contains(s, ","):
		return " (a thousands separator?)" + howToDecide(s)
	case strings.ContainsAny(s, ";\t|"):
		return " (another separator?)"
	case strings.HasPrefix(s, "("):
		return " (parentheses are not supported; must be a minus)"
	case strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) }),
		strings.ContainsAny(s, "٬٫"):
		return " (digits and separators must be ASCII)"
	case digits && strings.HasSuffix(s, "-"):
		return " (the minus must be before the number)"
	case strings.HasPrefix(rest, "x") || digits && strings.Contains(s, "_"):
		return " (hexadecimal numbers and underscores are not supported)"
	case strings.HasPrefix(s, "\u2212"), strings.HasPrefix(s, "\u2013"):
		return " (its minus is not an ASCII -)"
	case resemblesDate(s):
		return aDate
	case digits && rest != "" && rest != s:
		return " (a unit?)"
	}
	return ""
}
