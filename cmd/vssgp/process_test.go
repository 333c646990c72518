//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// asCommand makes this test binary the command itself.
const asCommand = "VSSGP_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		limitFiles()
		main()
	}
	os.Exit(m.Run())
}

// process is a command line in a process of its own.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	c.Stderr = &bytes.Buffer{}
	return c
}

// fileLimit is the environment's variable for the size that a file may reach.
const fileLimit = "VSSGP_TEST_FILE_LIMIT"

// limitFiles sets that limit in the process of a command.
func limitFiles() {
	if n, err := strconv.ParseUint(os.Getenv(fileLimit), 10, 63); err == nil {
		limit := syscall.Rlimit{}
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			panic(err)
		}
		limit.Cur = n
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			panic(fmt.Sprint("limit the size of files: ", err))
		}
	}
}
