//go:build mpi

package ranks_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/vssgp/vssgp/ranks"
)

// ofJob marks the processes that this test starts under mpirun.
const ofJob = "VSSGP_TEST_RANK"

// TestMPIBehavesLikeGroup reruns itself under mpirun with 1, 2, 3 and 4 ranks and checks that MPI's Comm behaves
// like Group's. VSSGP_REQUIRE_MPI=1 makes a missing mpirun a failure.
func TestMPIBehavesLikeGroup(t *testing.T) {
	if os.Getenv(ofJob) != "" {
		c, leave, err := ranks.World()
		if err != nil || c == nil {
			t.Fatalf("no job: %v", err)
		}
		if err := checkComm(c, 3_000_000); err != nil {
			t.Errorf("rank %d of %d: %v", c.Rank(), c.Size(), err)
		}
		leave()
		return
	}
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) && os.Getenv("VSSGP_REQUIRE_MPI") == "" {
			t.Skip("no mpirun; VSSGP_REQUIRE_MPI=1 makes this a failure")
		}
		t.Fatal(err)
	}
	for n := 1; n <= 4; n++ {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
		cmd := exec.CommandContext(ctx, mpirun, "-n", strconv.Itoa(n), os.Args[0], "-test.run=^TestMPIBehavesLikeGroup$")
		cmd.Env = append(os.Environ(), ofJob+"=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
		cmd.WaitDelay = time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%d ranks: %v\n%s", n, err, out)
		}
		stop()
	}
}
