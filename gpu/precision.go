package gpu

import (
	"fmt"
	"strconv"
	"strings"
)

// LeastDigits and MostDigits are how many int8 digits a feature may have
// (Options.Digits). Each takes 8 bits off the error; 7 have float64's own.
const LeastDigits, MostDigits = 3, 7

// FastFloat64 says whether cards of this compute capability multiply in float64 about
// as fast as seven digits do: the data-centre cards A100, H100, B200 and their kin.
// Others have one float64 unit for 64 of float32.
func FastFloat64(major, minor int) bool { return minor == 0 && major >= 8 && major <= 10 }

// ParseDigits reads a precision: float64 is 0 digits, digits=N so many, and digits as
// many as there may be.
func ParseDigits(s string) (int, error) {
	word, number, numbered := strings.Cut(s, "=")
	switch n, err := strconv.Atoi(number); {
	case s == "float64":
		return 0, nil
	case s == "digits":
		return MostDigits, nil
	case word == "digits" && numbered && err == nil && n >= LeastDigits && n <= MostDigits:
		return n, nil
	}
	return 0, fmt.Errorf("gpu: want float64, digits or digits=N with N from %d to %d", LeastDigits, MostDigits)
}
