package series

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/series"
)

// Flags are the flags of the structural model in forecast, fill, backtest and fit.
type Flags struct {
	periods     []length
	seasons     []int // in steps of the data
	search      bool  // --season auto: detect seasons
	none        bool  // --season none
	trend       []string
	shortMemory bool
	robust      string // one of whens
	positive    bool
	errors      []string // columns
	regressors  regressors
	priors      map[string]series.Prior
	log         string // one of whens
}

// A length is a distance along the input, in units of the input or in a unit of time.
type length struct {
	text  string
	value float64
	unit  string // a unit of time, or "" for the unit of the input
}

// trends are the values of --trend.
var trends = []string{"auto", "none", "line", "damped", "smooth", "walk"}

// modelGroup is the group of the structural model's flags in help.
const modelGroup = "Model: period season trend log robust positive short-memory prior"

const auto, always, never = "auto", "always", "never"

var whens = []string{auto, always, never}

// PriorNames are the hyper-parameters whose priors --prior sets.
var PriorNames = []string{"slope", "damped", "damped-length", "smooth", "walk", "memory", "memory-length", "season", "season-length", "noise"}

// add defines all flags of the structural model.
func (s *Flags) add(f *pflag.FlagSet) {
	s.AddParts(f)
	f.Var(&cli.Value{Kind: "prior", List: true, Words: PriorNames, Parse: s.AddPrior}, "prior",
		"log-normal `prior` NAME=MEDIAN,SD (vssgp help priors)")
}

// AddParts defines the flags that only the structural model has.
func (s *Flags) AddParts(f *pflag.FlagSet) {
	f.Var(&cli.Value{Kind: "length", List: true, Parse: s.addPeriod}, "period",
		"period `length` of a known season, such as 7d or 0.5")
	f.Var(&cli.Value{Kind: "season", List: true, Words: []string{"auto", "none"}, Parse: s.addSeason}, "season",
		"period of a known season in `rows`, such as 12; or none or auto")
	f.Var(&cli.Value{Kind: "words", List: true, Words: trends, Parse: s.addTrend}, "trend",
		"trend `parts`: line, damped, smooth, walk or none (default: averaged)")
	f.BoolVar(&s.shortMemory, "short-memory", true,
		"include a mean-reverting residual")
	s.log, s.robust = auto, auto
	f.Var(cli.OneOf(&s.log, whens...), "log",
		"`when` to model the logarithm: auto, always or never")
	robust := cli.OneOf(&s.robust, whens...)
	set := robust.Parse
	robust.Parse = func(text string) error { // the flag was boolean in earlier versions
		return set(cmp.Or(map[string]string{"true": always, "false": never}[text], text))
	}
	f.Var(robust, "robust",
		"`when` to exclude outliers: auto, always or never")
	f.Lookup("robust").NoOptDefVal = always
	f.BoolVar(&s.positive, "positive", false, "predict no negative values")
	s.regressors.add(f)
	f.StringSliceVar(&s.errors, "yerr", nil, "`columns` with standard deviations of the values, one per output")
}

// units are units of time in seconds. Months and years have their mean lengths in the Gregorian calendar.
var units = map[string]float64{
	"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "mo": yearSeconds / 12, "y": yearSeconds,
	"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "months": yearSeconds / 12, "years": yearSeconds, // of an axis
}

const yearSeconds = 365.2425 * 86400

func (s *Flags) addPeriod(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		l, ok := parseLength(strings.TrimSpace(one))
		if !ok {
			return errors.New("must be a positive number in units of the input, or with a unit s, min, h, d, w, mo or y, such as 7d")
		}
		s.periods = append(s.periods, l)
	}
	return nil
}

// parseLength parses a positive number with an optional unit. It reports whether the text is valid.
func parseLength(text string) (length, bool) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	l := length{text: text, unit: text[len(number):]}
	var err error
	l.value, err = strconv.ParseFloat(number, 64)
	_, known := units[l.unit]
	return l, err == nil && (known || l.unit == "") && l.value > 0 && !math.IsInf(l.value, 0)
}

func (s *Flags) addSeason(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		switch n, err := strconv.Atoi(one); {
		case one == "auto":
			s.search = true
		case one == "none":
			s.none = true
		case err != nil || n < 2:
			return errors.New("must be a whole number of rows, 2 or more, or none or auto (--period accepts any period)")
		default:
			s.seasons = append(s.seasons, n)
		}
	}
	return nil
}

func (s *Flags) addTrend(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		if !slices.Contains(trends, one) {
			return errors.New("must be none, auto, or a comma-separated list of line, damped, smooth, walk")
		}
		s.trend = append(s.trend, one)
	}
	if len(s.trend) > 1 && (slices.Contains(s.trend, "auto") || slices.Contains(s.trend, "none")) {
		return errors.New("auto and none cannot be combined with other trends")
	}
	return nil
}

// JoinRobust joins "--robust never" into one argument. The value of --robust is optional, so pflag takes a following word as an operand.
func JoinRobust(args []string) (joined []string) {
	for i, a := range args {
		if i > 0 && args[i-1] == "--robust" && slices.Contains(whens, a) {
			joined[len(joined)-1] += "=" + a
		} else {
			joined = append(joined, a)
		}
	}
	return joined
}

// AddPrior parses NAME=MEDIAN,SD and sets the prior.
func (s *Flags) AddPrior(text string) error {
	name, numbers, _ := strings.Cut(text, "=")
	median, sd, _ := strings.Cut(numbers, ",")
	var p series.Prior
	var bad error
	p.Median, bad = strconv.ParseFloat(median, 64)
	if bad == nil {
		p.SD, bad = strconv.ParseFloat(sd, 64)
	}
	if bad == nil {
		bad = p.Check()
	}
	if bad != nil || !slices.Contains(PriorNames, name) {
		return fmt.Errorf("must be NAME=MEDIAN,SD with two positive numbers, such as noise=0.5,1, and NAME one of %s",
			strings.Join(PriorNames, ", "))
	}
	if s.priors == nil {
		s.priors = map[string]series.Prior{}
	}
	s.priors[name] = p
	return nil
}

// along returns the length in units of the input of a series.
func (l length) along(r *timeSeries) (float64, error) {
	if l.unit == "" {
		return l.value, nil
	}
	if !r.axis.Dates() {
		return 0, cli.Mistake("--period %s: the input %s has numbers, not dates; give the period in its units, or in rows with --season",
			l.text, r.xName)
	}
	return l.value * units[l.unit] / units[r.axis.Unit], nil
}

// A horizon is a number of rows or, with a unit, a time after the last row.
type horizon struct {
	length
	rows int
}

// flag returns the value of --horizon.
func (h *horizon) flag() *cli.Value {
	return &cli.Value{Kind: "rows", Parse: func(text string) (err error) {
		var ok bool
		if h.rows, err = strconv.Atoi(text); err == nil {
			h.length = length{text: text}
			ok = h.rows >= 1 && h.rows <= maxPlaces
		} else {
			h.length, ok = parseLength(text)
			ok = ok && h.unit != ""
		}
		if !ok {
			return fmt.Errorf("must be a whole number of rows from 1 to %d or, on dates, a time such as 2y, 6mo, 8w, 14d, 36h, 30min",
				maxPlaces)
		}
		return nil
	}}
}

// of returns the number of rows of the horizon in a series.
func (h *horizon) of(r *timeSeries) (int, error) {
	if h.unit == "" {
		return h.rows, nil
	}
	if !r.axis.Dates() {
		return 0, cli.Mistake("--horizon %s: the input %s has numbers, not dates; must be a number of rows", h.text, r.xName)
	}
	span, _ := h.along(r)
	months := h.value * units[h.unit] / units["mo"]
	const longest = 12 * 10_000
	if calendar := h.unit == "mo" || h.unit == "y"; calendar && months == math.Trunc(months) && months < longest &&
		units[r.axis.Unit] <= units["d"] {
		last := time.Unix(int64(r.axis.Seconds(r.grid.Last)), 0).UTC()
		end := last.AddDate(0, int(months), 0)
		if end.Day() != last.Day() { // the month is shorter
			end = end.AddDate(0, 0, -end.Day())
		}
		span = float64(end.Unix()-last.Unix()) / units[r.axis.Unit]
	}
	switch n := r.grid.Steps(r.grid.Last + span); {
	case n == 0 && r.grid.Share() < 1:
		return 0, cli.Mistake("--horizon %s: ends before the next row of %s, %s, because the rows follow opening hours or "+
			"weekdays", h.text, r.path, r.axis.Format(r.grid.Next(1)))
	case n == 0:
		return 0, cli.Mistake("--horizon %s: must be at least one step of %s, %s", h.text, r.path, spanOf(r.grid.Step, r.axis))
	case n > maxPlaces:
		return 0, cli.Mistake("--horizon %s: %d rows; the maximum is %d", h.text, n, maxPlaces)
	default:
		return n, nil
	}
}

// seriesOptions returns the options of a fit of the structural model.
func seriesOptions(env *cli.Env, s *Flags, r *timeSeries) (series.Options, error) {
	o := series.Options{
		Positive: s.positive, Seed: env.Seed, MemoryLimit: r.memory, Parts: s.parts(),
		Average: len(s.trend) == 0 || s.trend[0] == "auto",
	}
	o.Robust = map[string]series.Robust{always: series.RobustAlways, never: series.RobustNever}[s.robust]
	o.Log = map[string]series.Log{always: series.LogAlways, never: series.LogNever}[s.log]
	if err := cmp.Or(r.check(s.positive), r.explain(env, nil)); err != nil {
		return o, err
	}
	named, err := s.named(r)
	if err != nil {
		return o, err
	}
	slices.Sort(named)
	for i, p := range named {
		season := s.season(p)
		o.Parts = append(o.Parts, season)
		if i > 0 && p > 2*named[i-1] { // the shorter season may vary over the longer one
			o.Try = append(o.Try, []series.Part{series.Product{Long: season, Short: s.season(named[i-1])}})
		}
	}
	o.Known = s.none || len(named) > 0 && !s.search
	if !o.Known {
		g := r.grid
		o.Try = append(o.Try, series.Calendar(g.Hint, g.Step, g.Last-g.First, named, s.season)...)
	}
	return o, nil
}

// parts returns the parts of the model except its seasons.
func (s *Flags) parts() []series.Part {
	has := func(word string) bool {
		return len(s.trend) == 0 || slices.Contains(s.trend, "auto") || slices.Contains(s.trend, word)
	}
	all := []series.Part{series.Constant{}}
	if has("line") {
		all = append(all, series.Slope{SD: s.priors["slope"]})
	}
	if has("damped") {
		all = append(all, series.DampedTrend{SD: s.priors["damped"], Length: s.priors["damped-length"]})
	}
	if _, given := s.priors["smooth"]; slices.Contains(s.trend, "smooth") || given && has("smooth") { // not among the default parts
		all = append(all, series.SmoothTrend{SD: s.priors["smooth"]})
	}
	if has("walk") {
		all = append(all, series.RandomWalk{SD: s.priors["walk"]})
	}
	if s.shortMemory {
		all = append(all, series.ShortMemory{SD: s.priors["memory"], Length: s.priors["memory-length"]})
	}
	return append(all, series.Noise{SD: s.priors["noise"]})
}

func (s *Flags) season(period float64) series.Season {
	return series.Season{Period: period, Amplitude: s.priors["season"], Length: s.priors["season-length"]}
}

// maxSeasons is the maximum number of named seasons. The time of a fit grows with its square.
const maxSeasons = 12

// named returns the distinct periods of --period and --season in units of the input.
func (s *Flags) named(r *timeSeries) (all []float64, err error) {
	var texts []string
	add := func(flag, text string, p float64) {
		near := slices.IndexFunc(all, func(q float64) bool { return math.Abs(p-q) < 1e-5*q })
		rounded := r.grid.Step != math.Trunc(r.grid.Step) // then a season in rows is not exact
		switch {
		case p < 2*r.grid.Step*(1-1e-6):
			err = cli.Mistake("--%s %s: must be at least two steps of %s; a step of %s is %.6g", flag, text, r.path, r.xName,
				r.grid.Step)
		case p > r.grid.Last-r.grid.First:
			err = cli.Mistake("--%s %s: must not exceed the range of %s, %s", flag, text, r.path, spanOf(r.grid.Last-r.grid.First, r.axis))
		case near < 0:
			all, texts = append(all, p), append(texts, "--"+flag+" "+text)
		case math.Abs(p-all[near]) > 1e-12*p && !(rounded && flag == "season"):
			err = cli.Mistake("%s and --%s %s are almost equal (%.9g and %.9g in units of %s); give only one of them", texts[near], flag,
				text, all[near], p, r.xName)
		}
	}
	for _, l := range s.periods {
		p, bad := l.along(r)
		if bad != nil {
			return nil, bad
		}
		add("period", l.text, p)
	}
	for _, n := range s.seasons {
		add("season", strconv.Itoa(n), float64(n)*r.grid.Step)
	}
	if err == nil && len(all) > maxSeasons {
		err = cli.Mistake("%s: %d periods of seasons; the maximum is %d", r.path, len(all), maxSeasons)
	}
	if err == nil && s.none && (len(all) > 0 || s.search) {
		err = cli.Mistake("--season none cannot be combined with other seasons")
	}
	return all, err
}
