package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
)

// precisionFlag is --precision: what a GPU multiplies features in. The CPU computes in
// float64.
type precisionFlag struct {
	text   string // as the user wrote it
	auto   bool
	digits int // of int8; 0: float64
}

// Precisions are what a shell offers.
var Precisions = []string{"auto", "float64", "digits", "digits=3", "digits=7"}

// Set takes auto, float64, digits, digits=3 or digits=7.
func (p *precisionFlag) Set(s string) error {
	if s == "mixed" {
		return errors.New("mixed precision was removed; want digits, which are as exact as float64, or digits=3, which is near to what mixed was")
	}
	made := precisionFlag{text: s, auto: s == "auto"}
	if !made.auto {
		var err error
		if made.digits, err = gpu.ParseDigits(s); err != nil {
			return fmt.Errorf("want auto, or %s", strings.TrimPrefix(err.Error(), "gpu: want "))
		}
	}
	*p = made
	return nil
}

// on is how many digits a card takes, 0 for float64, and why auto chose them.
func (p precisionFlag) on(card cuda.Device) (digits int, why string) {
	switch {
	case !p.auto:
		return p.digits, ""
	case gpu.FastFloat64(card.Major, card.Minor):
		return 0, "its float64 units are fast"
	}
	return gpu.MostDigits, "int8, as exact as its float64 units, which are slow"
}

// precisionOf is what --precision would be for so many digits.
func precisionOf(digits int) string {
	if digits == 0 {
		return "float64"
	}
	return fmt.Sprintf("digits=%d", digits)
}

// hostless is the mistake of asking for digits where the CPU computes.
func (p precisionFlag) hostless(why string) error {
	return Mistake("--precision %s: the CPU computes in float64%s; want --precision auto, or a GPU", p.text, why)
}
