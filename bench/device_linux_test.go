package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// programs contains shell scripts for the programs that device.sh runs. Variables contain what they print.
var programs = map[string]string{
	"bin/bench": `while [ $# -gt 0 ]; do
	[ "$1" != -out ] || out=$2
	[ "$1" != -case ] || echo '{"bench":"speed","case":"'$2'","start_seconds":'$START',"first_seconds":0.1,"status":"ok"}' >>"$out"
	shift
done`,
	"bin/vssgp": `case "$*" in
devices*) echo '{"devices":[{"name":"cuda:0","available":true,"card":"Card X"}]}' ;;
*cuda*) echo '{"bound":'$BOUND',"iterations":2}' ;;
*) echo '{"bound":-2,"iterations":2}' ;;
esac`,
	"bin/compute-sanitizer": `echo "$SANITIZER"`,
	"bin/ncu":               `echo "$PROFILE"`,
	"bin/nvidia-smi":        `echo "1.2, Card X, 345 MHz"`,
	"test/gpu/gpu.test":     `echo "$TESTED"; case $TESTED in *FAIL*) exit 3 ;; *LIMIT*) exit 124 ;; esac`,
	"test/cuda/cuda.test":   "",
}

// TestDevice runs device.sh with the programs above. It checks the status that a stage has for what they print.
func TestDevice(t *testing.T) {
	const (
		clean   = "========= ERROR SUMMARY: 0 errors\n"
		noRaces = "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
		must    = `must be "ERROR SUMMARY: 0 errors"`
		metrics = "==PROF==\n" + `"ID","Metric Name","Metric Unit","Metric Value","Rule"` + "\n" + `"0","SM Frequency","hz","1,968",""` +
			"\ncase exact\n" + `"0","","","","a rule"`
	)
	dir := t.TempDir()
	for name, script := range programs {
		testkit.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		testkit.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o777))
	}
	testkit.Put(t, dir, "commit", "abc\n")

	for i, c := range []struct{ group, set, stage, status string }{
		{"tests", "TESTED=fine", "test-gpu", "ok"},
		{"tests", "TESTED=one\n\nFAIL \"two\"\n", "test-gpu", `failed: exit 3: FAIL \"two\"`},
		{"tests", "TESTED=LIMIT", "test-gpu", "failed: time limit of 120 s"},
		{"tests", "TESTED=testing: warning: no tests to run", "test-gpu", "skipped: testing: warning: no tests to run"},
		{"tests", "VSSGP_DEVICE_SECONDS=1", "test-gpu", "skipped: no time left"},
		{"tests", "VSSGP_DEVICE_CARD=1", "devices", `failed: no cuda:1: {\"devices\":[{\"name\":\"cuda:0\",\"available\":true,\"card\":\"Card X\"}]}`},
		{"start", "START=1.8", "start-again", "ok"},
		{"start", "START=3", "start-cached", "failed: opening and the first evaluation took 3 + 0.1 s: the driver does not cache kernels"},
		{"fit", "BOUND=-2.000001", "fit-windows-compare", "ok"},
		{"fit", "BOUND=-2.00001", "fit-windows-compare", "failed: exit 1: bounds of -2 -2.00001: must be equal to 1e-6"},
		{"fit", "BOUND=", "fit-windows-compare", "failed: exit 1: bounds of -2 : must be equal to 1e-6"},
		{"profile", "PROFILE=" + metrics, "ncu-pullback_128", "ok"},
		{"profile", "PROFILE===ERROR== ERR_NVGPUCTRPERM - no", "ncu-pullback_128", "skipped: ==ERROR== ERR_NVGPUCTRPERM - no"},
		{"profile", "PROFILE=No kernels were profiled.", "ncu-pullback_128", "failed: no metrics"},
		{"sanitize", "SANITIZER=" + clean, "memcheck", "ok"},
		{"sanitize", "SANITIZER=PASS\n" + clean + clean, "memcheck", "ok"}, // of two processes
		{"sanitize", "SANITIZER=========== ERROR SUMMARY: 0 errors\r\n", "memcheck", "ok"},
		{"sanitize", "SANITIZER=PASS", "memcheck", `failed: summary \"\", ` + strings.ReplaceAll(must, `"`, `\"`)},
		{"sanitize", "SANITIZER=ERROR SUMMARY: 0 errors", "memcheck", `failed: summary \"\", ` + strings.ReplaceAll(must, `"`, `\"`)},
		{"sanitize", "SANITIZER=" + clean + "= ERROR SUMMARY: 2 errors", "memcheck",
			`failed: summary \"ERROR SUMMARY: 0 errors;ERROR SUMMARY: 2 errors\", ` + strings.ReplaceAll(must, `"`, `\"`)},
		{"sanitize", "SANITIZER=Device not supported", "memcheck", "skipped: Device not supported"},
		{"sanitize", "SANITIZER=" + noRaces, "racecheck", "ok"},
		{"sanitize", "SANITIZER=" + clean, "racecheck", `failed: summary \"ERROR SUMMARY: 0 errors\", must be \"` +
			strings.Trim(noRaces, "= \n") + `\"`},
	} {
		results := filepath.Join(t.TempDir(), c.group)
		cmd := exec.Command("bash", "device.sh", dir, results)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "VSSGP_DEVICE_STAGES="+c.group, "START=1",
			"BOUND=-2", c.set)
		out, err := cmd.CombinedOutput()
		files := testkit.Must(filepath.Glob(filepath.Join(results, "device-*.jsonl")))(t)
		if len(files) != 1 {
			t.Fatalf("case %d: files %v, %v\n%s", i, files, err, out)
		}
		lines := string(testkit.Read(t, files[0]))
		if want := `{"stage":"` + c.stage + `","status":"` + c.status + `","seconds":`; !strings.Contains(lines, want) {
			t.Errorf("case %d: no line %s…\n%s", i, want, lines)
		}
		if failed := strings.Contains(lines, `"status":"failed`); failed != (err != nil) {
			t.Errorf("case %d: error %v", i, err)
		}
		if profile := `{"profile":"pullback_128","metrics":{"SM Frequency [hz]":"1,968"}}`; c.stage == "ncu-pullback_128" &&
			c.status == "ok" != strings.Contains(lines, profile) {
			t.Errorf("case %d: profile %s\n%s", i, profile, lines)
		}
		if c.stage != "devices" && !strings.Contains(lines, `,"card":"Card X","driver":"1.2","commit":"abc"}`) && c.set != "VSSGP_DEVICE_SECONDS=1" {
			t.Errorf("case %d: no card, driver and commit\n%s", i, lines)
		}
		if _, err := readResult(files[0]); err != nil {
			t.Errorf("case %d: %v", i, err)
		}
	}
}
