//go:build !cudaemu && !(cuda && linux && (amd64 || arm64))

package cuda

import "fmt"

// none is the driver of a build without a driver.
type none struct{}

func newDriver() driver { return none{} }

func (none) devices() ([]Device, error) { return nil, errNone }

func (none) retain(int) (primary, error) { return nil, errNone }

var errNone = fmt.Errorf("cuda: this program was built without CUDA; build it with -tags cuda, on Linux (amd64 or arm64): %w", ErrNoDevice)
