package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// tensors returns a small valid model, which the cases below invalidate.
func tensors() map[string]safetensors.Tensor {
	vec := func(v ...float64) safetensors.Tensor { return safetensors.Tensor{Shape: []int{len(v)}, Data: v} }
	col := func(v ...float64) safetensors.Tensor { return safetensors.Tensor{Shape: []int{len(v), 1}, Data: v} }
	return map[string]safetensors.Tensor{
		"kernel.variance": vec(1), "kernel.lengthscale": col(1), "kernel.frequency": col(0),
		"inducing.location": col(0, 1), "frequency.mean": col(0.5, -0.5), "frequency.variance": col(0.1, 0.1),
		"phase.lower": vec(0, 1), "phase.upper": vec(0, 1), "noise.precision": vec(10),
	}
}

func modelBytes(t *testing.T, spoil func(map[string]safetensors.Tensor), metadata map[string]string) []byte {
	t.Helper()
	f := &safetensors.File{Tensors: tensors(), Metadata: metadata}
	if spoil != nil {
		spoil(f.Tensors)
	}
	var b bytes.Buffer
	testkit.OK(t, f.Write(&b))
	return b.Bytes()
}

// mistakeFiles returns the files of the cases. The folder of each case contains all of them.
func mistakeFiles(t *testing.T) map[string][]byte {
	good := wav(8000, 1, tone(400, 8000))
	set := func(name string, v ...float64) func(map[string]safetensors.Tensor) {
		return func(m map[string]safetensors.Tensor) { m[name] = safetensors.Tensor{Shape: m[name].Shape, Data: v} }
	}
	shorten := "NIST_1A\n   1024\nsample_rate -i 8000\nchannel_count -i 1\nsample_count -i 100\nsample_n_bytes -i 2\n" +
		"sample_coding -s26 pcm,embedded-shorten-v2.00\nend_head\n"
	side := strings.Repeat("1,", 150_000) + "2\n"
	names, long := "day,name\n", "t,y\n"
	for i := range 257 {
		names += fmt.Sprintf("2024-01-01,e%d\n", i)
	}
	for i := range 40 {
		long += fmt.Sprintf("%d,%d\n", i, i*i%7)
	}
	return map[string][]byte{
		"months.csv": []byte("month,y\n2024-01,1\n2024-02,2\n2024-03,1\n2024-04,3\n"),
		"same.csv":   []byte("y_mean,y\n1,2\n2,3\n"),
		"uneven.csv": []byte("t\n0\n1\n3\n"), "side.csv": []byte(side + side),
		"named.safetensors": modelBytes(t, nil, map[string]string{"x.names": `["t"]`}),
		"good.csv":          []byte("t,y\n0,1\n1,2\n2,1\n3,0\n"), "empty.csv": nil, "ragged.csv": []byte("t,y\n0,1\n1\n"),
		"place.csv": []byte("a,place,y\n0,north,1\n1,south,2\n"),
		"word.csv":  []byte("t,y\n0,1\n1,two\n"), "hole.csv": []byte("t,y\n0,1\n,1\n"), "void.csv": []byte("t,y\n0,\n1,NA\n"),
		"dates.csv":  []byte("t,y\n2024-01-01,1\n2024-01-02,2\n"),
		"either.csv": []byte("t,y\n01/02/2024,1\n02/03/2024,2\n"), "data.xlsx": []byte("PK\x03\x04..."), "data.parquet": []byte("PAR1..."),
		"parquet.csv": []byte("PAR1..."),
		"still.csv":   []byte("t,y\n1,1\n1,2\n1,1\n1,0\n"), "error.csv": []byte("t,y,e\n0,1,1\n1,2,0\n2,1,1\n3,0,1\n"),
		"names.csv": []byte(names), "long.csv": []byte(long),
		"far.csv":  []byte("t,y\n-1.7e308,1\n0,2\n1,1\n2,3\n1.7e308,0\n"),
		"fine.csv": []byte("t,y\n0,1\n1,2\n2,1\n3,3\n8e140,0\n"),
		"one.csv":  []byte("t\n0\n1\n"), "wide.csv": []byte("a,b,c,d\n0,1,2,3\n"),
		"text.npy": []byte("no numpy"), "data.dat": []byte("1,2\n"),
		"good.wav": good, "empty.wav": nil, "cut.wav": good[:300], "text.wav": []byte("this is a text file, not a recording\n"),
		"adpcm.wav": patched(good, 20, 2, 0),
		"rate.wav":  wav(16000, 1, tone(400, 8000)), "length.wav": wav(8000, 1, tone(300, 8000)), "stereo.wav": wav(8000, 2, tone(400, 8000)),
		"shorten.sph":    append([]byte(shorten+strings.Repeat(" ", 1024-len(shorten))), make([]byte, 200)...),
		"gaps.csv":       []byte("start,end\n100,120\n"),
		"gaps-names.csv": []byte("from,to\n100,120\n"), "gaps-overlap.csv": []byte("start,end\n100,120\n110,130\n1,9\n5,9\n"),
		"good.safetensors": modelBytes(t, nil, nil),
		"fitted.safetensors": modelBytes(t, func(m map[string]safetensors.Tensor) {
			m["coefficient.mean"] = safetensors.Tensor{Shape: []int{2, 1}, Data: []float64{1, 2}}
			m["coefficient.variance"] = safetensors.Tensor{Shape: []int{2, 1}, Data: []float64{1, 1}}
		}, nil),
		"empty.safetensors":    nil,
		"negative.safetensors": modelBytes(t, set("kernel.variance", -1), nil),
		"lacks.safetensors":    modelBytes(t, func(m map[string]safetensors.Tensor) { delete(m, "phase.lower") }, nil),
		"format.safetensors":   modelBytes(t, nil, map[string]string{"format": "other/9"}),
		"scale.safetensors":    modelBytes(t, nil, map[string]string{"x.scale": "[-1]"}),
	}
}

// inFull replaces the abbreviations in mistakeCases.
var inFull = strings.NewReplacer(
	"FIT", "fit good.csv -o m.safetensors", "FORECAST", "forecast good.csv -o out.csv", "PREDICT", "predict fitted.safetensors",
	"IMPUTE", "impute good.wav --gap 100:120 -o out.wav", "GAP", "--gap 1:2 -o out.wav", "MODEL", "-o m.safetensors", "WAV", "-o out.wav",
	"CSV", "-o out.csv",
)

// mistakeCases are command lines that must exit with 2, and a text that the message must contain: the file, the flag or the value.
var mistakeCases = []struct{ line, word string }{
	// The command line itself.
	{"foo", "foo"}, {"help foo", "foo"}, {"--foo", "--foo"}, {"fit --foo", "--foo"}, {"fit", "DATA"},
	{"fit good.csv", "-o"}, {"fit good.csv more.csv MODEL", "more.csv"}, {"predict good.safetensors CSV", "INPUTS"},
	{"evaluate good.safetensors", "DATA"}, {"info", "MODEL"}, {"devices now", "now"}, {"version 2", "2"}, {"man", "FOLDER"},
	{"man a b", "b"}, {"man good.csv", "good.csv"}, {"help nonsense", "forecasting"}, {"help tables json", "tables json"},
	{"help forecst", "did you mean forecast"}, {"tables", "vssgp help tables"}, {"tables good.csv", "vssgp help tables"}, {"fit good.csv -o", "-o"},
	{"fit good.csv -o -", "file name"}, {"IMPUTE --sd -", "file name"}, {"predict good.safetensors good.csv -o - --json", "--json"},
	{"FIT --progress sometimes", "sometimes"}, {"FIT --device tpu", "tpu"}, {"FIT --device cuda:x", "cuda:x"},
	{"FIT --device cuda:0,1", "mpirun -n 2"}, {"FIT --device CUDA", "must be auto"}, {"FIT --device cuda:", "--device"},
	{"FIT --device cuda:-1", "--device"}, {"FIT --seed -1", "--seed"}, {"impute good.wav --gap 100:120", "-o"}, {"impute good.wav WAV", "--gap"},
	{"impute good.wav --cues WAV", "--cues: good.wav (400 samples) has no regions"}, {"impute good.wav --cues GAP", "only one of"},
	{"impute good.wav --cues --dry-run WAV", "--detect"},
	// Numbers in flags.
	{"FIT --components two", "two"}, {"FIT --components 9999999999999999999", "0 or more"}, {"FIT --components -2", "--components"},
	{"FIT --features 1e3", "1e3"},
	{"FIT --iterations -5", "--iterations"}, {"FIT --window -3", "-3"}, {"FIT --window NaN", "NaN"}, {"FIT --window 20ms", "20ms"},
	{"FIT --window 1e-300", "1e-300"}, {"impute good.wav --gap 100:120 --window 1ns WAV", "1ns"},
	{"impute good.wav --gap 100:120 --window 0.0001ms WAV", "window length"}, {"FIT --components 1000000000", "components 1000000000"},
	{"FIT --features 2000000", "features 2000000"}, {"FIT --init paper --features 1000000", "factorized"},
	{"FIT --lengthscales 0", "length-scale"}, {"FIT --lengthscales 32ms", "may not be time"}, {"FIT --lengthscales 1,two", "must be numbers"},
	{"FIT --lengthscales 1 --periods 5s", "may not be time"}, {"FIT --lengthscales 1,2 --periods 3", "periods"},
	{"FIT --precision digits", "float64"}, {"FIT --noise-precision -1", "noise"}, {"FIT --frequency-variance -1", "frequency variance"}, {"FIT --noise-precision NaN", "noise"},
	{"FIT --restarts -1", "--restarts"}, {"FIT --segments -1", "--segments"},
	{"impute good.wav --gap 100:120 --segments -4 WAV", "--segments"}, {"FIT --batch 1000 --inference stochastic", "--batch"},
	{"FIT --method gp", "gp"}, {"FIT --inference magic", "magic"}, {"FIT --optimizer adam", "adam"}, {"FIT --fix no.such", "no.such"},
	{"FIT --method ssgp --features 3", "3"}, {"FIT --resume", "--checkpoint"}, {"FIT --checkpoint wide.csv", "not a checkpoint"},
	{"FIT --resume --checkpoint good.safetensors", "not a checkpoint"}, {"FIT --checkpoint empty.csv", "not a checkpoint"},
	{"FIT --resume --checkpoint empty.csv", "damaged"}, {"FIT --checkpoint c --every 0s", "--every 0s: must"},
	{"FIT --checkpoint c --every soon", "soon"}, {"FIT --every 9s", "--checkpoint"}, {"FIT --checkpoint -", "--checkpoint"},
	{"FIT --checkpoint m.safetensors", "m.safetensors"}, {"FIT --checkpoint folder --resume", "folder"},
	{"FIT --init none.safetensors", "none.safetensors"}, {"predict good.safetensors good.csv --draws -1 CSV", "--draws"},
	{"info good.safetensors --top -1", "--top"}, {"evaluate good.safetensors good.csv --rows 1,a --inference factorized", "a"},
	{"evaluate good.safetensors good.csv --rows 4 --inference factorized", "--rows 4: must be from 0 to 3"},
	{"evaluate good.safetensors good.csv --rows 1", "mini-batch"},
	{"evaluate good.safetensors good.csv --inference stochastic", "stochastic"},
	{"impute good.wav --gap 100:120 --method best WAV", "one of auto, mixture"},
	{"impute good.wav --gap 100:120 --method mixture --model m.st WAV", "--model applies"},
	{"impute good.wav --gap 100:120 --method ar --context 5ms WAV", "--context applies"},
	{"impute good.wav --gap 100:120 --method mixture --prior none WAV", "--prior applies"},
	{"impute good.wav --gap 100:120 --context soon WAV", "soon"}, {"impute good.wav --gap 100:120 --draws 100000 WAV", "whole number from 0 to"},
	// Series.
	{"forecast", "DATA"}, {"forecast good.csv -o out.txt", "out.txt"},
	{"forecast good.csv -o - --json", "--json"}, {"fill good.csv", "-o OUT.csv"}, {"backtest", "DATA"},
	{"FORECAST --horizon 0", "from 1 to"}, {"FORECAST --horizon two", "two"}, {"FORECAST --until 2", "last row of good.csv, 3"},
	{"FORECAST --horizon -3", "--horizon"}, {"FORECAST --horizon 1.5", "whole number"}, {"FORECAST --horizon 2y", "numbers, not dates"},
	{"FORECAST --horizon 2furlongs", "36h"}, {"backtest good.csv --horizon 2y", "not dates"},
	{"FORECAST --level 100", "less than 100"}, {"FORECAST --level high", "80,95"}, {"FORECAST --level 80,80", "two columns"},
	{"FORECAST --level 80 --level 80.0", "80 is given twice"}, {"fill good.csv CSV --level 50,50", "given twice"},
	{"FORECAST --quantiles 0", "between 0 and 1"}, {"FORECAST --quantiles 0.5,1", "between 0 and 1"},
	{"FORECAST --quantiles 90", "0.1,0.5,0.9"}, {"FORECAST --quantiles p90", "0.1,0.5,0.9"},
	{"FORECAST --quantiles 1e-20", "at least"}, {"FORECAST --quantiles 0.5 --quantiles .50", "0.5 is given twice"},
	{"PREDICT good.csv --x t --quantiles 0.5 CSV", "--quantiles: fitted.safetensors is not a time-series model"},
	{"forecast same.csv", "two columns of the same name, \"y_mean\""}, // not the number of rows, which is checked later
	{"fill good.csv CSV --level -1", "--level"}, {"PREDICT good.csv --x t --level 80 CSV", "not a time-series model"},
	{"PREDICT good.csv --x t --digits 0 CSV", "--digits: fitted.safetensors"}, {"FORECAST --digits -1", "--digits"},
	{"FORECAST --by nope", "nope"}, {"FORECAST --by t --x t", "given by --x"}, {"FORECAST --by t --plot p.svg", "--plot cannot be combined with --by"},
	{"FORECAST --by t -m m.st", "--model cannot be combined with --by"}, {"FORECAST --by t --report r.html", "--report cannot be combined with --by"},
	{"fill good.csv --by t --plot p.svg CSV", "--plot cannot be combined with --by"}, {"forecast good.csv --by t -o out.npy", "names of series"},
	{"forecast months.csv --until 2024-13", "the date does not exist; must be a date such as 2024-04"},
	{"forecast months.csv --until 2025-02-29", "does not exist"},
	{"forecast months.csv --until 9", "must have the format"},
	{"FORECAST --until soon", "soon"}, {"FORECAST --horizon 2 --until 9", "one of them"},
	{"FORECAST --horizon 1000", "exceeds the maximum of 30 rows"}, {"FORECAST --at none.csv", "none.csv"},
	{"FORECAST --at dates.csv", "dates.csv:2"}, {"forecast good.wav CSV", "a recording"}, {"forecast none.csv CSV", "none.csv"},
	{"forecast void.csv --x t --y y CSV", "void.csv: column \"y\" has 0 values"}, {"forecast dates.csv CSV", "at least 4"},
	{"forecast good.csv --x t,y CSV", "must be one column"}, {"forecast good.csv --y nope CSV", "nope"},
	{"forecast still.csv CSV", "all rows have the same t, 1"}, {"forecast error.csv --x t --y y --yerr t,e CSV", "given by --x"},
	{"forecast good.csv --y t --x y --yerr y CSV", "another column"}, {"forecast error.csv --x t --y y --yerr e CSV", "row 2 (from 1)"},
	{"FORECAST --period -1", "positive"}, {"FORECAST --period 7d", "not dates"}, {"FORECAST --period 7furlongs", "min, h, d"},
	{"FORECAST --period 1.5", "two steps"}, {"FORECAST --season 1", "2 or more"}, {"FORECAST --season none --season 2", "cannot be combined with other seasons"},
	{"FORECAST --trend up", "line, damped, smooth, walk"}, {"FORECAST --trend none,walk", "cannot be combined with other trends"},
	{"FORECAST --prior noise=1", "NAME=MEDIAN,SD"}, {"FORECAST --prior hiss=1,1", "slope, damped, damped-length"},
	{"forecast good.csv -o good.csv", "the same file"}, {"FORECAST -m good.csv", "the same file"}, {"fill good.csv -o out.npy", "good.csv"},
	{"fill good.csv CSV --bands out.csv", "out.csv"}, {"fill word.csv --x t --y y CSV", "two"},
	{"fill good.csv -o good.csv", "the same file"}, {"backtest good.csv --horizon 9", "good.csv"},
	{"backtest good.csv --origins 0", "0 origins"}, {"FIT --period 2 --components 2", "--components"},
	{"FIT --method structural --iterations 2", "--iterations"}, {"FIT --method ssgp --trend walk", "--trend"},
	{"FIT --prior season=1,1 --prior lengthscale=1,1", "--prior lengthscale"}, {"FIT --trend walk --posterior 3", "--posterior"},
	{"FIT --prior hue=1,1", "none, NAME=none"}, {"evaluate good.safetensors good.csv --yerr y", "--yerr"},
	// Output files.
	{"fit good.csv -o nowhere/m.safetensors", "nowhere"}, {"fit good.csv -o folder", "folder"}, {"FIT --checkpoint nowhere/c", "nowhere"},
	{"predict good.safetensors good.csv --x t -o nowhere/out.csv", "nowhere"},
	{"predict good.safetensors good.csv --x t -o out.txt", "out.txt"}, {"impute good.wav --gap 100:120 -o nowhere/out.wav", "nowhere"},
	{"IMPUTE --sd nowhere/sd.csv", "nowhere"}, {"IMPUTE --report out.wav", "out.wav"},
	// Reports and forms of predictions.
	{"FIT --report r.pdf", "must be .html, .png or .svg"}, {"fit good.csv -o m.html --report m.html", "m.html"},
	{"PREDICT good.csv --x t -o o.csv --plot plot", "must be .html, .png or .svg"},
	{"info fitted.safetensors --plot plot.txt", "must be .html, .png or .svg"},
	{"impute good.wav --gap 100:120 -o o.wav --report r.png", "must be .html"},
	{"impute good.wav --gap 100:120 -o o.wav --report r", "must be .html"},
	{"PREDICT good.csv --x t -o out.mp3", "must be .csv, .tsv, .npy, .wav or -"},
	{"PREDICT good.csv --x t --full WAV", "-o must be .csv or .npy"},
	{"PREDICT good.csv --x t --draws-file out.npy CSV", "requires --draws N"},
	{"PREDICT good.csv --x t --draws 1 --draws-file - CSV", "--draws-file -: this output cannot be written to " +
		"stdout; must be .csv, .tsv, .npy or .wav"},
	{"fill good.csv CSV --bands -", "--bands -: this output cannot be written to stdout; must be .csv or .tsv"},
	{"PREDICT uneven.csv WAV", "must be .csv or .npy"}, {"PREDICT uneven.csv --draws 1 --draws-file out.wav CSV", "must be .csv or .npy"},
	{"PREDICT good.wav --x t CSV", "--x selects columns of a table"}, {"PREDICT uneven.csv --draws 1 --draws-file out.csv CSV", "out.csv"},
	{"predict named.safetensors good.wav CSV", "the model's input is t"},
	// Tables.
	{"fit side.csv MODEL", "150000 inputs in 2 rows"}, {"fit none.csv MODEL", "none.csv"}, {"fit folder MODEL", "folder"},
	{"fit data.dat MODEL", "neither a table's"}, {"fit data.xlsx MODEL", "save the sheet as CSV"},
	{"fit data.parquet MODEL", "read_parquet"}, {"fit parquet.csv MODEL", "a Parquet file"}, {"impute data.parquet GAP", "read_parquet"},
	{"fit void.csv MODEL", "void.csv: 2 columns"}, {"fit void.csv --x t --y y MODEL", "\"y\" has 0 values in 2 rows"},
	{"fit void.csv --x t --y y --method vssgp MODEL", "no row has a value of y"}, {"fit either.csv MODEL", "--dayfirst"},
	{"PREDICT dates.csv --x t CSV", "dates.csv:2"}, {"fit text.wav MODEL", "is text"}, {"impute good.csv GAP", "is a table; must be a recording"},
	{"forecast fine.csv CSV", "the usual step of t, 1, is too small for its range"},
	{"fill fine.csv --level 50 --plot p.html CSV", "the usual step"}, {"FORECAST --level 99.99999999999999",
		"at most 99.9999999999999"},
	{"forecast dates.csv --events names.csv CSV", "--events names.csv: more than 256 names of events"},
	{"forecast long.csv --season 2,3,4,5,6,7,8,9,10,11,12,13,14 CSV", "13 periods of seasons; the maximum is 12"},
	{"FIT --y t,t", "twice"}, {"fit empty.csv MODEL", "empty.csv"}, {"fit ragged.csv MODEL", "ragged.csv:3"},
	{"fit hole.csv MODEL", "hole.csv:3"}, {"fit one.csv MODEL", "one.csv"}, {"fit text.npy MODEL", "text.npy"},
	{"fit place.csv --x a,place MODEL", `column "place" (1 from 0): "north" is text; a column of text cannot be an input`},
	{"fit good.csv --x nope MODEL", "nope"}, {"fit good.csv --y 7 MODEL", "7"}, {"fit good.csv --x t,t MODEL", "twice"},
	{"fit good.csv --x y --method vssgp MODEL", "y"},
	{"evaluate fitted.safetensors wide.csv", "wide.csv"}, {"predict good.safetensors wide.csv CSV", "wide.csv"},
	// Models.
	{"info none.safetensors", "none.safetensors"}, {"info empty.safetensors", "empty.safetensors"},
	{"info negative.safetensors", "kernel.variance"}, {"info lacks.safetensors", "phase.lower"},
	{"info format.safetensors", "other/9"}, {"info scale.safetensors", "x.scale"},
	{"info good.csv", "good.csv is a table"}, {"predict good.safetensors good.csv --x t CSV", "fit the model"},
	{"evaluate good.safetensors good.csv --inference factorized", "coefficient"}, {"evaluate good.safetensors good.wav --x t", "--x"},
	// Recordings.
	{"impute none.wav GAP", "none.wav"}, {"impute empty.wav GAP", "empty.wav"}, {"impute cut.wav --strict GAP", "cut.wav"},
	{"impute text.wav GAP", "text.wav is text, not a recording: it begins with \"this is a text f\""},
	{"impute adpcm.wav GAP", "adpcm.wav"}, {"impute shorten.sph GAP", "shorten.sph"},
	{"fit adpcm.wav MODEL", "adpcm.wav"},
	{"impute good.wav --gap 100:120 --reference rate.wav WAV", "rate.wav"},
	{"impute good.wav --gap 100:120 --reference length.wav WAV", "length.wav"},
	{"impute good.wav --gap 100:120 --reference stereo.wav WAV", "stereo.wav"},
	{"impute good.wav --gap 100:120 --reference none.wav WAV", "none.wav"},
	// Gaps.
	{"impute good.wav --gap 120:100 WAV", "120:100"}, {"impute good.wav --gap=-5:10 WAV", "-5"},
	{"impute good.wav --gap 390:410 WAV", "390:410"}, {"impute good.wav --gap 10..20 WAV", "10..20"},
	{"impute good.wav --gaps none.csv WAV", "none.csv"}, {"impute good.wav --gaps gaps-names.csv WAV", "gaps-names.csv"},
	{"impute good.wav --gaps gaps-overlap.csv WAV", "gaps-overlap.csv: line 3: gap 110:130"},
	{"impute good.wav --gaps gaps-overlap.csv WAV", "(the line is 0.01375 s to 0.01625 s)"},
	{"impute good.wav --gap 1:2 --gaps gaps.csv WAV", "--gaps"}, {"impute good.wav --gap 5:6@2 WAV", "channel 2, must be 1 to 1"},
	{"impute good.wav --dry-run --detect zeros WAV", "--dry-run cannot be combined with -o"},
	{"impute folder --dry-run --detect zeros --out-dir .", "--dry-run"},
	{"impute good.wav --gap 5:6 --confidence 9 WAV", "--confidence 9: must"},
	{"impute . --detect zeros --confidence 101 WAV", "--confidence 101"},
	{"impute . --detect zeros --confidence 0.8 WAV", "--confidence 0.8: must be in percent, such as 80"},
	{"impute good.wav --dry-run --gap 5:6", "--dry-run"}, {"impute good.wav --sensitivity 3 --gap 5:6 WAV", "--sensitivity"},
	{"impute good.wav --detect zeros --sensitivity 11 WAV", "--sensitivity 11: must be 0 to 10"},
	{"impute good.wav --detect zeros --mono on WAV", "--mono requires --detect clicks"},
	{"impute good.wav --detect clicks --mono yes WAV", "--mono"},
	{"impute good.wav --gap 5:6@0 WAV", "channel"},
	{"impute good.wav --detect zeros --labels l.doc WAV", "l.doc"}, {"impute good.wav --gap 5:6 --detect zeros WAV", "2 ways"},
	{"impute good.wav --detect ones WAV", "ones"}, {"impute good.wav --gap 5:395 WAV", "10 observed samples"},
}

func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	for name, content := range mistakeFiles(t) {
		testkit.Put(t, dir, name, string(content))
	}
	testkit.Put(t, filepath.Join(dir, "folder"), "file", "")
	t.Chdir(dir)
	before := listing(t, ".")
	for i, c := range mistakeCases {
		line := inFull.Replace(c.line)
		t.Run(fmt.Sprintf("%d %s", i, line), func(t *testing.T) {
			refuse(t, c.word, strings.Fields(line)...)
			if after := listing(t, "."); !maps.Equal(before, after) {
				t.Errorf("files are left: %v", after)
			}
		})
	}
}

// mutation is a damaged file and how it was made.
type mutation struct {
	what string
	file []byte
}

// mutations damages a model file in n ways of each kind.
func mutations(t testing.TB, file []byte, n int, rng *rand.Rand) (all []mutation) {
	add := func(b []byte, format string, args ...any) {
		all = append(all, mutation{fmt.Sprintf(format, args...), b})
	}
	for range n {
		at := rng.IntN(len(file))
		add(file[:at], "cut at %d", at)
		at = rng.IntN(len(file))
		if rng.IntN(2) == 0 {
			at = rng.IntN(min(len(file), 2000))
		}
		flipped := bytes.Clone(file)
		flipped[at] ^= 1 << rng.IntN(8)
		add(flipped, "flip at %d", at)
	}
	whole := func() *safetensors.File {
		f := testkit.Must(safetensors.Read(bytes.NewReader(file), int64(len(file))))(t)
		return f
	}
	write := func(f *safetensors.File, format string, args ...any) {
		var b bytes.Buffer
		if err := f.Write(&b); err == nil {
			add(b.Bytes(), format, args...)
		}
	}
	names, entries := slices.Sorted(maps.Keys(whole().Tensors)), slices.Sorted(maps.Keys(whole().Metadata))
	for _, name := range names {
		f := whole()
		delete(f.Tensors, name)
		write(f, "no %s", name)
		old := whole().Tensors[name]
		for _, tensor := range []safetensors.Tensor{
			{Shape: []int{len(old.Data)}, Data: old.Data}, {Shape: []int{1, len(old.Data)}, Data: old.Data},
			{Shape: append(slices.Clone(old.Shape), 1), Data: old.Data}, {Data: []float64{1}}, {Shape: []int{0}},
		} {
			f := whole()
			f.Tensors[name] = tensor
			write(f, "%s of shape %v", name, tensor.Shape)
		}
		for _, v := range []float64{0, -1, 1, 1e-300, 1e300, -1e300, 1e9, -1e9, 1e-9, math.NaN(), math.Inf(1)} {
			f := whole()
			for i := range f.Tensors[name].Data {
				f.Tensors[name].Data[i] = v
			}
			write(f, "%s all %v", name, v)
			if data := f.Tensors[name].Data; len(data) > 0 {
				f = whole()
				i := rng.IntN(len(data))
				f.Tensors[name].Data[i] = v
				write(f, "%s[%d] = %v", name, i, v)
			}
		}
	}
	for _, name := range entries {
		f := whole()
		delete(f.Metadata, name)
		write(f, "no metadata %s", name)
		old := whole().Metadata[name]
		for _, text := range []string{"", "null", "{}", "[]", "0", "-1", `"x"`, "{", "[null]", "[1e999]", "[0]", strings.Repeat("[", 100),
			aNumber.ReplaceAllString(old, "1e300"), aNumber.ReplaceAllString(old, "null"), aNumber.ReplaceAllString(old, "-1"),
			aWord.ReplaceAllString(old, `"x"`), aWord.ReplaceAllString(old, "[]")} {
			f := whole()
			f.Metadata[name] = text
			write(f, "metadata %s = %.20s", name, text)
		}
	}
	return all
}

// aNumber and aWord match values of metadata.
var aNumber, aWord = regexp.MustCompile(`-?[0-9][0-9.e+-]*`), regexp.MustCompile(`"[^"]*"`)

// inner are internal words that must not appear in messages.
var inner = regexp.MustCompile(`json: |Go (struct|value)|blocktri|pivot|NaN: |bug|index out|numerical precision`)

// damagedEvery is the step between tested mutations.
var damagedEvery = slow.Pick(3, 31)

// TestDamagedModels checks that a damaged model file is valid or gives an error in one line, with the path and without internal words.
func TestDamagedModels(t *testing.T) {
	dir := t.TempDir()
	var table strings.Builder
	table.WriteString("day,a,b,e\n")
	for i := range 60 {
		fmt.Fprintf(&table, "2024-%02d-%02d,%v,%.2f,%v\n", 1+i/28, 1+i%28, 3+i%7, 2+math.Sin(float64(i)*1.3), 0.1+0.01*float64(i%5))
	}
	data, at := testkit.Put(t, dir, "d.csv", table.String()), testkit.Put(t, dir, "at.csv", "day\n2024-01-03\n2024-03-02\n")
	model, out, rng := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "o.csv"), rand.New(rand.NewPCG(1, 2))
	for _, args := range []string{
		"forecast %s --y a --season none --trend walk --short-memory=false --horizon 3 -o " + out + " -m",
		"forecast %s --y a,b --log always --season 7 --trend none --horizon 3 -o " + out + " -m",
		"fit %s --y a --yerr e --season none --trend line --short-memory=false -o",
		"fit %s --y a,b --method vssgp --features 4 --components 2 --iterations 4 --posterior 2 -o",
		"fit %s --y a --method vssgp --features 4 --components 1 --window 10 --iterations 4 -o",
		"fit %s --y a --method vssgp --inference factorized --features 4 --components 1 --iterations 4 -o",
	} {
		succeed(t, append(strings.Fields(fmt.Sprintf(args, data)), model)...)
		for i, m := range mutations(t, testkit.Read(t, model), 60, rng) {
			if i%damagedEvery != 0 {
				continue
			}
			testkit.OK(t, os.WriteFile(model, m.file, 0o666))
			uses := []string{"info %s", "predict %s " + at + " -o -", "evaluate %s " + data}
			if damagedEvery > 10 { // in sequence, to save time
				uses = uses[i/damagedEvery%3:][:1]
			}
			for _, use := range uses {
				o := vssgpRun(t, strings.Fields(fmt.Sprintf(use, model))...)
				if o.code == cli.ExitDone {
					if strings.Contains(o.stdout, "NaN") || strings.Contains(o.stdout, "Inf") {
						t.Errorf("%s, %.4s: %.300s", m.what, use, o.stdout)
					}
					continue
				}
				lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(o.stderr), "\n"), func(line string) bool {
					return strings.Contains(line, "warning: ") || strings.Contains(line, "left out ")
				})
				// Metadata changed to other valid values give a model that does not match the table.
				named := slices.ContainsFunc([]string{model, data, at, "this model's "},
					func(name string) bool { return strings.Contains(lines[0], name) })
				if o.code != cli.ExitMistake || len(lines) != 1 || !named || inner.MatchString(lines[0]) {
					t.Errorf("%s, %.4s: exit %d, %s", m.what, use, o.code, o.stderr)
				}
			}
		}
	}
}
