package audio

import (
	"math"
	"slices"
	"time"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
)

// A result is the output of impute --json, which docs/json.md describes. Samples count from 0 in each channel.
type result struct {
	*fillSummary
	*level
	Input    string    `json:"input"` // name of the file
	Rate     int       `json:"rate"`
	Channels int       `json:"channels"`
	Samples  int       `json:"samples"`
	Missing  int       `json:"missing"`
	Gaps     [][2]int  `json:"gaps"`                   // start and end
	Of       []int     `json:"gap_channels,omitempty"` // channels from 1; 0 for all
	Found    []found   `json:"found,omitzero"`         // of --detect
	Near     []found   `json:"near_misses,omitzero"`   // clicks that a higher sensitivity would find
	Vinyl    *vinyl    `json:"vinyl,omitzero"`         // how clicks were searched
	Mono     *mono     `json:"mono,omitzero"`          // of a recording with two channels
	Warnings []warning `json:"doubts,omitzero"`
	Joint    *int      `json:"joint,omitzero"` // number of gaps predicted from other channels
	Excerpts []excerpt `json:"excerpts,omitzero"`
	Output   string    `json:"output,omitempty"`
	Removed  string    `json:"removed,omitempty"` // file of --removed
	Models   []string  `json:"models,omitempty"`
	Scores   *scores   `json:"scores,omitzero"` // of --reference
}

// A fillSummary is the part of a result that is present if gaps were filled.
type fillSummary struct {
	Method     string        `json:"method"`
	Device     string        `json:"device"`
	Took       time.Duration `json:"seconds"`
	Iterations int           `json:"iterations"`
	Bound      float64       `json:"bound"` // sum over the excerpts, NaN without a VSSGP
}

// A level describes the level of the output if it differs from the input's level or if samples are clipped.
type level struct {
	Gain    float64 `json:"gain_db"`
	Clipped int     `json:"clipped"` // filled samples beyond full scale, of all draws
}

// A found is damage found by --detect.
type found struct {
	Start      int         `json:"start"`
	End        int         `json:"end"`
	Channel    int         `json:"channel"`
	Kind       detect.Kind `json:"kind"`
	LogOdds    float64     `json:"log_odds"`
	Confidence float64     `json:"confidence"`
}

// A vinyl describes whether clicks were searched as on a record, and the evidence.
type vinyl struct {
	Used       bool    `json:"used"`
	Ticks      float64 `json:"quiet_ticks_per_second"`
	Spread     float64 `json:"floor_spread_db"`
	Dispersion float64 `json:"dispersion"`
	Doubt      string  `json:"doubt,omitzero"`
}

// A mono describes whether clicks were searched as on a mono disc, and the evidence.
type mono struct {
	Used      bool    `json:"used"`
	Reduction float64 `json:"reduction_db"`
	Music     float64 `json:"music_db"`
}

// foundOf returns detections for --json.
func foundOf(all []detect.Found) []found {
	out := []found{}
	for _, d := range all {
		out = append(out, found{d.Start, d.End, d.Channel, d.Kind, d.LogOdds, d.Confidence()})
	}
	return out
}

// A warning identifies a gap whose fill is not reliable.
type warning struct {
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Channel int    `json:"channel"` // from 1
	Reason  string `json:"reason"`
}

// An excerpt is a part of the recording with one model.
type excerpt struct {
	Start int `json:"start"`
	End   int `json:"end"`
	*excerptFit
}

// An excerptFit describes the fit of a VSSGP to an excerpt.
type excerptFit struct {
	Bound      float64 `json:"bound"`
	Iterations int     `json:"iterations"`
	Features   int     `json:"features"`
	NoiseSD    float64 `json:"noise_sd"` // of the first channel, in full scale
}

// scores are errors of fills compared with the reference.
type scores struct {
	AR      audio.Scores `json:"ar"`
	Linear  audio.Scores `json:"linear"`
	Silence audio.Scores `json:"silence"`
	VSSGP   filledScores `json:"vssgp"` // of the fill by any method
}

type filledScores struct {
	audio.Scores
	Coverage95 float64 `json:"coverage95"`
}

// resultOf returns the output of --json for a fill or a search for damage.
func resultOf(f *report.Fill, o *imputeFlags, models []string, s *scores) *result {
	all := &result{Input: f.Name, Rate: f.Rate, Channels: f.Channels, Samples: f.Samples, Missing: audio.Missing(f.Gaps)}
	for _, g := range f.Gaps {
		all.Gaps, all.Of = append(all.Gaps, [2]int{g.Start, g.End}), append(all.Of, g.Channel)
	}
	if !slices.ContainsFunc(all.Of, func(channel int) bool { return channel > 0 }) {
		all.Of = nil
	}
	if f.Found != nil {
		all.Found = foundOf(f.Found)
	}
	if slices.Contains(o.gaps.find.Kinds, detect.Clicks) {
		all.Near = foundOf(f.Search.Near)
		if v := f.Search.Vinyl; switchOf(o.gaps.vinyl) != detect.Off {
			all.Vinyl = &vinyl{v.Used, v.Quiet, v.Spread, v.Dispersion, v.Doubt}
		}
		if m := f.Search.Mono; f.Channels == 2 && switchOf(o.gaps.mono) != detect.Off {
			all.Mono = &mono{m.Used, m.Reduction, m.Music}
		}
	}
	if o.gaps.dry {
		return all
	}
	r := f.Result
	all.Warnings, all.Output, all.Removed = []warning{}, o.output, o.removed
	if r == nil {
		return all
	}
	for _, d := range r.Warnings() {
		all.Warnings = append(all.Warnings, warning{d.Gap.Start, d.Gap.End, d.Channel + 1, d.Warning})
	}
	all.Excerpts = []excerpt{}
	for _, e := range r.Excerpts {
		one := excerpt{Start: e.Start, End: e.End}
		if e.Result != nil {
			one.excerptFit = &excerptFit{e.Result.Bound, e.Result.Iterations, e.Features, e.NoiseSD}
		}
		all.Excerpts = append(all.Excerpts, one)
	}
	all.fillSummary = &fillSummary{f.Method, f.Device(), r.Elapsed, r.Iterations, r.Bound}
	if r.Method != restore.VSSGP {
		all.Bound = math.NaN()
	}
	joint := r.Joint()
	all.Joint, all.Models, all.Scores = &joint, models, s
	return all
}
