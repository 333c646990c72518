package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A stage is the line of a command that device.sh ran.
type stage struct {
	Stage   string  `json:"stage"`
	Seconds float64 `json:"seconds"`
	Status  string  `json:"status"`         // ok, skipped: reason, time limit, exit N or failed: reason; interrupted until it has ended
	Said    string  `json:"said,omitempty"` // the summary of a sanitizer; last lines of the output, if it failed
}

func (s stage) failed() bool {
	return s.Status != machine.OK && !strings.HasPrefix(s.Status, "skipped: ")
}

func (s stage) print(w io.Writer) {
	fmt.Fprintf(w, "%-28s %7.1f s  %s\n", s.Stage, s.Seconds, s.Status)
}

// stageTask is `bench stage`. It determines the status of a command that device.sh has run, and appends the command's results and the
// status to a file.
type stageTask struct {
	lines, output, skip, device string
	took                        time.Duration
	exit                        int
	name                        string
	command                     []string
}

func (o *stageTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.lines, "lines", "", "append lines of JSON to this file")
	set.StringVar(&o.output, "output", "", "files of the command's output, without the extensions .out and .err")
	set.StringVar(&o.device, "device", "", "device that the stage named devices must find")
	set.StringVar(&o.skip, "skip", "", "reason why the command was not run")
	set.DurationVar(&o.took, "took", 0, "duration of the command")
	set.IntVar(&o.exit, "exit", 0, "exit status of the command; 124 or 137 means that it was stopped by timeout")
}

func (o *stageTask) check(args []string) error {
	o.name, o.command = append(args, "")[0], args[min(1, len(args)):]
	return demand(len(o.command) > 0 || o.name != "" && o.skip != "", "the name of the stage is required, with its command or -skip")
}

func (o *stageTask) run() error {
	out, _ := os.ReadFile(o.output + ".out") // no file if the command was not run
	stderr, _ := os.ReadFile(o.output + ".err")
	own, err := &result{}, error(nil)
	for text := range bytes.Lines(out) { // results of speed and peers are stored, other lines are ignored
		if line := json.RawMessage(text); own.add(&line) == nil {
			err = errors.Join(err, jsonl.Append(o.lines, line))
		}
	}
	s, found := o.ended(string(out), string(out)+"\n"+string(stderr), own)
	if found != nil {
		err = errors.Join(err, jsonl.Append(o.lines, found))
	}
	s.print(os.Stdout)
	printRows(os.Stdout, own.rows()...)
	return errors.Join(err, jsonl.Append(o.lines, s), demand(!s.failed(), "%s: %s\n%s", s.Stage, s.Status, s.Said))
}

// unsupported matches messages of NVIDIA programs that do not work on this machine, and of test programs without a matching test.
var unsupported = regexp.MustCompile(`(?m)^.*(ERR_NVGPUCTRPERM|Unable to find injection library|Device not supported|LibraryNotLoaded|` +
	`warning: no tests to run).*$`)

// ended returns the stage's line, and a line of facts or a profile if the command printed one. out is the standard output of the command,
// all also contains its standard error, and own the results in out.
func (o *stageTask) ended(out, all string, own *result) (s stage, found any) {
	s = stage{Stage: o.name, Seconds: o.took.Round(time.Second / 10).Seconds(), Status: machine.OK}
	why := cmp.Or(o.skip, unsupported.FindString(all))
	if len(own.Speed) == 0 && len(own.Peers) == 1 && strings.HasPrefix(own.Peers[0].Status, "missing: ") {
		why = own.Peers[0].Status
	}
	if why != "" {
		s.Status = "skipped: " + why
		return s, nil
	}
	found, err := o.found(out, own)
	if slices.Contains(o.command, "compute-sanitizer") {
		s.Said, err = sanitized(all, slices.Contains(o.command, "racecheck"))
	}
	switch {
	case o.exit == 124 || o.exit == 137:
		s.Status = "time limit"
	case o.exit != 0:
		s.Status = fmt.Sprintf("exit %d", o.exit)
	case err != nil:
		s.Status = fmt.Sprintf("failed: %v", err)
	default:
		return s, found
	}
	last := slices.DeleteFunc(strings.Split(all, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" || line[0] == '{' })
	tail := strings.Join(last[max(0, len(last)-5):], "\n")
	s.Said = tail[max(0, len(tail)-400):]
	return s, nil
}

// found returns the facts or the profile that nvidia-smi or ncu printed, and an error if the output is not as expected.
func (o *stageTask) found(out string, own *result) (line any, err error) {
	for _, m := range own.Speed {
		if m.Case == "second start" && m.Start >= 2 {
			return nil, fmt.Errorf("the second start took %.3g s: the driver does not cache compiled kernels", m.Start)
		}
	}
	if o.name == "devices" {
		return nil, o.listed(out)
	}
	switch o.command[0] {
	case "nvidia-smi":
		_, query, _ := strings.Cut(strings.Join(o.command, " "), "--query-gpu=")
		query, _, _ = strings.Cut(query, " ")
		names, values, facts := strings.Split(query, ","), strings.Split(out, ","), map[string]string{}
		for i, name := range names[:min(len(names), len(values))] {
			facts[name] = strings.TrimSpace(values[i])
		}
		return map[string]any{"facts": facts}, demand(len(values) == len(names), "%d values of %s", len(values), query)
	case "ncu":
		kernel, values := strings.TrimPrefix(o.name, "ncu-"), metrics(out)
		return map[string]any{"profile": kernel, "metrics": values}, demand(len(values) > 0, "no metrics of %s", kernel)
	case "cat": // two outputs of vssgp fit --json
		var fits [2]struct{ Bound float64 }
		in := json.NewDecoder(strings.NewReader(out))
		err := cmp.Or(in.Decode(&fits[0]), in.Decode(&fits[1]))
		a, b := fits[0].Bound, fits[1].Bound
		same := a != 0 && math.Abs(a-b) <= 1e-6*math.Abs(a)
		return nil, cmp.Or(err, demand(same, "bounds of %v and %v: must be equal to 1e-6", a, b))
	}
	return nil, nil
}

// summary matches the last line of a tool of compute-sanitizer.
var summary = regexp.MustCompile(`(?m)^=+ ((?:ERROR|RACECHECK) SUMMARY: .*?)\s*$`)

// sanitized returns the summary that compute-sanitizer printed, and an error unless it reports that nothing was
// found. The exit status does not prove that: it is also 0 if the tool could not observe the program, and then
// there is no summary.
func sanitized(all string, racecheck bool) (line string, err error) {
	clean := "ERROR SUMMARY: 0 errors"
	if racecheck {
		clean = "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
	}
	lines := summary.FindAllStringSubmatch(all, -1) // one per process
	if len(lines) == 0 {
		return "", fmt.Errorf("no line %q: nothing was checked", clean)
	}
	for _, m := range lines {
		if line = m[1]; line != clean {
			return line, fmt.Errorf("%s, must be %s", line, clean)
		}
	}
	return line, nil
}

// listed returns an error if the output of vssgp devices --json does not list the device as available.
func (o *stageTask) listed(out string) error {
	var list struct {
		Devices []struct {
			Name, Reason string
			Available    bool
		}
	}
	err := json.Unmarshal([]byte(out), &list)
	reason := "not listed"
	for _, d := range list.Devices {
		if d.Name == o.device && d.Available {
			return nil
		}
		reason = cmp.Or(d.Reason, reason)
	}
	return cmp.Or(err, fmt.Errorf("%s: %s", o.device, reason))
}

// metrics returns the values in ncu's CSV, which is mixed with the output of the profiled program. All CSV fields are quoted.
func metrics(out string) map[string]string {
	values, column := map[string]string{}, map[string]int{}
	for text := range strings.Lines(out) {
		fields := strings.Split(strings.Trim(text, "\",\r\n"), `","`)
		value := column["Metric Value"]
		if slices.Contains(fields, "Metric Value") {
			for i, name := range fields {
				column[name] = i
			}
		} else if value > 0 && value < len(fields) && fields[column["Metric Name"]] != "" {
			values[fmt.Sprintf("%s [%s]", fields[column["Metric Name"]], fields[column["Metric Unit"]])] = fields[value]
		}
	}
	return values
}
