//go:build slow

package main

func init() { damagedEvery = 3 }
