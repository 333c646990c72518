package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
)

// gapFlags say which samples are missing, in one of three ways.
type gapFlags struct {
	list   []string
	file   string
	detect string
}

func (g *gapFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&g.list, "gap", nil, "a gap, `START:END` in samples (1200:1240) or times (0.5s:520ms), the end exclusive; repeatable")
	f.Var(fileName(&g.file, file{extensions: []string{"csv"}}), "gaps", "CSV `file` with columns start,end in samples, the end exclusive")
	f.Var(oneOf(&g.detect, "zeros"), "detect", fmt.Sprintf("find the gaps: zeros are runs of at least %d exact zeros in every channel", audio.DefaultZeroRun))
}

// check reports none or several of the ways.
func (g *gapFlags) check() error {
	ways := 0
	for _, given := range []bool{g.list != nil, g.file != "", g.detect != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return mistake("no gaps given; want --gap START:END, --gaps FILE.csv or --detect zeros")
	case ways > 1:
		return mistake("gaps are given in %d ways; want only one of --gap, --gaps and --detect", ways)
	}
	return nil
}

// in are the gaps of a recording, in rising order.
func (g *gapFlags) in(rec *audio.File, input string) ([]impute.Gap, error) {
	var gaps []audio.Gap
	var err error
	switch {
	case g.file != "":
		gaps, err = readGaps(g.file)
	case g.detect != "":
		gaps, err = rec.DetectZeros(audio.DefaultZeroRun)
		if err == nil && len(gaps) == 0 {
			return nil, mistake("%s: --detect zeros: no run of %d zeros or more; name the gaps with --gap or --gaps", input, audio.DefaultZeroRun)
		}
	default:
		for _, s := range g.list {
			var gap audio.Gap
			if gap, err = audio.ParseGap(s, rec.Rate()); err != nil {
				break
			}
			gaps = append(gaps, gap)
		}
	}
	if err != nil {
		return nil, err
	}
	if gaps, err = audio.CheckGaps(gaps, rec.Len()); err != nil {
		return nil, fmt.Errorf("%s: %w", input, err)
	}
	return gaps, nil
}

// readGaps reads --gaps.
func readGaps(path string) ([]audio.Gap, error) {
	f, _, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	gaps, err := audio.ReadGaps(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return gaps, nil
}

// imputeFlags are the flags of impute beside the model's.
type imputeFlags struct {
	model     *modelFlags
	gaps      gapFlags
	context   time.Duration // 0: the default
	all       bool          // --context all
	output    string
	reference string
	report    string
	sd        string
	models    string
	draws     int
	plan      bool
	keep      checkpointFlags
	densities *report.Densities // of the excerpts, for the report
}

// maxFills bounds --draws: each is a file.
const maxFills = 100

// modelFilesOf are the files that n models take.
func modelFilesOf(path string, n int) []string {
	if n == 1 {
		return []string{path}
	}
	return numberedFiles(path, n)
}

// fillOptions are those of impute.Fill; show may be nil.
func (o *imputeFlags) fillOptions(rate int, options vssgp.Options, show func(impute.Progress)) impute.Options {
	fill := impute.Options{
		Model: options, Context: o.context, All: o.all, Draws: o.draws, Forget: o.models == "", Progress: show,
	}
	if o.report != "" {
		o.densities = report.NewDensities(rate)
		fill.Fitted = o.densities.Add
	}
	return fill
}
