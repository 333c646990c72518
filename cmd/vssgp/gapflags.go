package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// gapFlags say which samples are missing, in one of three ways.
type gapFlags struct {
	list   []string
	file   string
	detect choice
}

func (g *gapFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&g.list, "gap", nil, "a gap, `START:END` in samples (1200:1240) or times (0.5s:520ms), the end exclusive; repeatable")
	f.StringVar(&g.file, "gaps", "", "CSV `file` with columns start,end in samples, the end exclusive")
	f.Var(&g.detect, "detect", fmt.Sprintf("find the gaps: zeros are runs of at least %d exact zeros in every channel", audio.DefaultZeroRun))
}

// check reports none or several of the ways.
func (g *gapFlags) check() error {
	ways := 0
	for _, given := range []bool{g.list != nil, g.file != "", g.detect.value != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return mistake("no gaps are given; want --gap START:END, --gaps FILE.csv or --detect zeros")
	case ways > 1:
		return mistake("gaps are given in %d ways; want one of --gap, --gaps and --detect", ways)
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
	case g.detect.value != "":
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
