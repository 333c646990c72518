package kernels

//go:generate go run ./internal/generate
