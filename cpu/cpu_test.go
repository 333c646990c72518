package cpu_test

import (
	"testing"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/backendtest"
	"github.com/vssgp/vssgp/spectral"
)

func open(testing.TB) spectral.Backend { return cpu.New() }

func TestBackend(t *testing.T) { backendtest.Run(t, open) }

func FuzzBackend(f *testing.F) { backendtest.Fuzz(f, open) }
