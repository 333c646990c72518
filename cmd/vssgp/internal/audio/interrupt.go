package audio

import (
	"context"
	"fmt"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
)

// interrupted writes the finished results after an interruption: the fill without scores, or else the labels of the detections.
func (r *repair) interrupted(ctx context.Context) (*result, error) {
	f, labels, left := r.page, r.gaps.labels, "; the output was not written"
	if r.gaps.dry {
		left = ""
	}
	switch {
	case f.Reference != nil && f.Result != nil && f.Scores == nil:
		f.Reference = nil
		if err := r.read(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
		done, err := r.finish()
		if err != nil {
			return nil, err
		}
		return done, cli.Interrupted(fmt.Sprintf(" during the comparison with --reference; %s was written without scores", r.output))
	case labels != "" && len(f.Found) > 0 && r.env.Write(r.gaps.labelFile(f)) == nil:
		what, then := "all gaps to fill", ""
		switch {
		case !r.searched:
			what = "the damage found so far"
		case r.gaps.detect != nil:
			then = fmt.Sprintf("; continue with --gaps %s instead of --detect and --labels", labels)
		}
		left += fmt.Sprintf("; %s contains %s (%s)%s", labels, what, cli.Counted(len(f.Found), "gap"), then)
	case labels == "" && r.gaps.detect != nil:
		left += "; to keep the damage found, use --labels FILE"
		if !r.gaps.dry {
			left += ", then --gaps FILE"
		}
	}
	return nil, cli.Interrupted(left)
}

// interrupted returns the error after an interruption that left so many of several recordings finished. It does not
// advise --gaps, because a list of gaps belongs to one recording.
func (o *imputeFlags) interrupted(finished, of int) error {
	did, then := "finished", "; to continue, run the same command with --resume"
	if o.gaps.dry {
		did, then = "searched", ""
	}
	return cli.Interrupted(fmt.Sprintf("; %s %d of %s%s", did, finished, cli.Counted(of, "recording"), then))
}
