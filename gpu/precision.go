package gpu

import (
	"fmt"
	"strconv"
	"strings"
)

// LeastDigits and MostDigits are the two numbers of int8 digits that a feature may have
// (Options.Digits): 3 for gradients of six decimals, 7 for float64's own error.
const LeastDigits, MostDigits = 3, 7

// FastFloat64 says whether cards of this compute capability multiply in float64 about
// as fast as seven digits do: the data-center cards A100, H100, B200 and their kin.
// Others have one float64 unit for 64 of float32.
func FastFloat64(major, minor int) bool { return minor == 0 && major >= 8 && major <= 10 }

// ParseDigits returns the number of digits of a precision: 0 of float64, N of digits=N,
// MostDigits of digits.
func ParseDigits(s string) (int, error) {
	word, number, numbered := strings.Cut(s, "=")
	switch n, err := strconv.Atoi(number); {
	case s == "float64":
		return 0, nil
	case s == "digits":
		return MostDigits, nil
	case word == "digits" && numbered && err == nil && (n == LeastDigits || n == MostDigits):
		return n, nil
	}
	return 0, fmt.Errorf("gpu: want float64, digits, digits=%d or digits=%d", LeastDigits, MostDigits)
}
