//go:build slow

package slow

func init() { Tests = true }
