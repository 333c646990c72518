//go:build race

package slow

func init() { race = true }
