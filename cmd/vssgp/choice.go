package main

import (
	"fmt"
	"slices"
	"strings"
)

// choice is a flag that takes one of a few words.
type choice struct {
	allowed []string
	value   string
}

// String is the word chosen.
func (c *choice) String() string { return c.value }

// Type is what help calls the flag's argument.
func (c *choice) Type() string { return "word" }

// Set takes one of the allowed words.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("want one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = s
	return nil
}
