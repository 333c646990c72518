package gpu

import (
	"fmt"
	"strconv"
	"strings"
)

// LeastDigits and MostDigits are the allowed numbers of int8 digits per feature (Options.Digits): 3
// for gradients of six decimals, 7 for the accuracy of float64.
const LeastDigits, MostDigits = 3, 7

// FastFloat64 reports whether GPUs of this compute capability multiply in float64 about as fast as
// with seven digits. This is true for data-center GPUs such as A100, H100 and B200. Others have one
// float64 unit per 64 float32 units.
func FastFloat64(major, minor int) bool { return minor == 0 && major >= 8 && major <= 10 }

// ParseDigits returns the number of digits of a precision: 0 for float64, N for digits=N,
// MostDigits for digits.
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
	return 0, fmt.Errorf("gpu: precision must be float64, digits, digits=%d or digits=%d", LeastDigits, MostDigits)
}
