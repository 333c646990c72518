package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/docs"
	"github.com/vssgp/vssgp/internal/testkit"
)

// commands returns the root command and all commands shown in help.
func commands() []*cobra.Command {
	env := &cli.Env{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	env.Device = cli.NewDevice(env.Note)
	root := newRoot(env)
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, c)
		}
	}
	return all
}

// TestHelpExamples checks that help describes every command and flag within its limits, and that its examples are valid command
// lines.
func TestHelpExamples(t *testing.T) {
	for _, c := range commands() {
		o := succeed(t, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		testkit.Contains(t, o.stdout, "Usage:", "Examples:", "Common:")
		if c.Short == "" || c.Example == "" || o.stderr != "" {
			t.Errorf("%s: no short description, no example, or help on stderr: %q", c.CommandPath(), o.stderr)
		}
		for line := range strings.Lines(c.Example) {
			command, _, _ := strings.Cut(line, "#")
			words := strings.Fields(command)
			if len(words) < 2 || words[0] != "vssgp" || !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: example %q; want two spaces, vssgp and a command", c.CommandPath(), line)
				continue
			}
			at, rest, err := commands()[0].Find(words[1:])
			if err == nil {
				err = at.ParseFlags(rest)
			}
			if err == nil {
				err = at.ValidateArgs(at.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: example %q: %v", c.CommandPath(), line, err)
			}
			if c.HasParent() && at.Name() != c.Name() {
				t.Errorf("%s: example %q is for another command", c.CommandPath(), line)
			}
		}
		if long := strings.Count(c.Long, "\n") + 1; c.Name() != "completion" && (long > 25 || len(c.Short) >= 60) {
			t.Errorf("%s: %d lines of text, at most 25; the summary has %d letters, at most 59", c.CommandPath(), long, len(c.Short))
		}
		for line := range strings.Lines(o.stdout) {
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Errorf("%s: a line of help has %d letters, at most 100: %s", c.CommandPath(), n, line)
			}
		}
		groups := c.Annotations["flag groups"]
		for name := range strings.FieldsSeq(regexp.MustCompile(`(?m)^[^:]*:`).ReplaceAllString(groups, "")) {
			if c.Flags().Lookup(name) == nil {
				t.Errorf("%s: a group of flags has --%s, which does not exist", c.CommandPath(), name)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s: no description", c.CommandPath(), f.Name)
			}
		})
	}
}

// TestNoCommand checks that vssgp without a command prints examples, and that --version prints the output of the command version.
func TestNoCommand(t *testing.T) {
	o := vssgpRun(t)
	if o.code != cli.ExitMistake || o.stdout != "" || strings.Count(o.stderr, "\n  vssgp ") != 3 {
		t.Errorf("vssgp: exit %d, stdout %q, stderr %q; want 2 and three examples", o.code, o.stdout, o.stderr)
	}
	flag, command := succeed(t, "--version").stdout, succeed(t, "version").stdout
	if flag != command || !strings.HasPrefix(flag, "vssgp ") || strings.Count(flag, "\n") != 1 {
		t.Errorf("--version prints %q, version %q; want the same line", flag, command)
	}
	if help := succeed(t, "devices", "--help").stdout; strings.Contains(help, "--seed") || !strings.Contains(help, "--json") {
		t.Errorf("the help of devices lists flags that do nothing, or lacks --json: %s", help)
	}
}

// TestTopics checks that help lists and prints every topic, that help texts and messages name no other topics, and that
// they name no file of the repository, which an installed command does not have.
func TestTopics(t *testing.T) {
	_, list, _ := strings.Cut(succeed(t, "help").stdout, "\nTopics:\n")
	for _, topic := range docs.Topics {
		title, _, _ := strings.Cut(strings.TrimPrefix(topic.Page(), "# "), "\n")
		if text := succeed(t, "help", topic.Name).stdout; !strings.HasPrefix(text, title+"\n===") {
			t.Errorf("help %s prints %.60q; want %q", topic.Name, text, title)
		}
		testkit.Contains(t, list, "  "+topic.Name+" ")
	}
	named := regexp.MustCompile(`vssgp help ([a-z-]+)`)
	local := regexp.MustCompile(`[\w-]+\.md\b|\bbench/`)
	found := map[string]bool{}
	for _, source := range goStrings(t) {
		for _, m := range named.FindAllStringSubmatch(source, -1) {
			found[m[1]] = true
		}
		if name := local.FindString(source); name != "" {
			t.Errorf("a message names the file %s: %s", name, source)
		}
	}
	for name := range found {
		succeed(t, "help", name)
	}
	if len(found) < 5 {
		t.Errorf("the messages name the topics %v; want more", found)
	}
}

// goStrings returns the strings in the sources of the command.
func goStrings(t *testing.T) (all []string) {
	for _, pattern := range []string{"*.go", "internal/*/*.go"} {
		for _, path := range testkit.Must(filepath.Glob(pattern))(t) {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file := testkit.Must(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
			ast.Inspect(file, func(n ast.Node) bool {
				if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					all = append(all, literal.Value)
				}
				return true
			})
		}
	}
	return all
}

// TestManual checks that man writes the same page for each command every time, with the flags and the text of its help.
func TestManual(t *testing.T) {
	t.Chdir(t.TempDir())
	succeed(t, "man", "new/man1")
	var wrote struct{ Files []string }
	testkit.OK(t, json.Unmarshal([]byte(succeed(t, "man", "again", "--json").stdout), &wrote))
	for _, path := range wrote.Files {
		if first := testkit.Read(t, filepath.Join("new/man1", filepath.Base(path))); !bytes.Equal(first, testkit.Read(t, path)) {
			t.Errorf("%s differs from a page written before", path)
		}
	}
	plain := strings.NewReplacer(`\fB`, "", `\fI`, "", `\fR`, "", `\-`, "-", `\(aq`, "'", `\(ha`, "^", `\(ti`, "~",
		`\(ga`, "`")
	bare := regexp.MustCompile(`(?m)^[.'](?:[^A-Zfn]|$)|[^\\]-`) // a line that troff would execute or a typographic hyphen
	for _, c := range commands() {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		source := string(testkit.Read(t, filepath.Join("new/man1", name+".1")))
		if wrong := bare.FindString(source); wrong != "" {
			t.Errorf("%s: %q is not escaped", c.CommandPath(), wrong)
		}
		page := plain.Replace(source)
		help := succeed(t, append(strings.Fields(c.CommandPath())[1:], "--help")...).stdout
		for _, flag := range regexp.MustCompile(`(?m)^ +(-\w, --\S+|--\S+)( \S+)?   `).FindAllStringSubmatch(help, -1) {
			testkit.Contains(t, page, "\n.TP\n"+flag[1]+flag[2]+"\n")
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			testkit.Contains(t, page, strings.TrimSpace(line))
		}
		if strings.Contains(page, "--factorised") || !strings.Contains(page, ".SS Common\n") {
			t.Errorf("%s: the page has a hidden flag or no groups: %s", c.CommandPath(), page)
		}
	}
	alias, page := testkit.Read(t, "new/man1/vssgp-repair.1"), testkit.Read(t, "new/man1/vssgp-impute.1")
	testkit.Equal(t, string(alias), string(page), "the alias")
	t.Run("nothing is written if a page cannot be", func(t *testing.T) {
		testkit.OK(t, os.MkdirAll("part/vssgp-fit.1", 0o777))
		refuse(t, "vssgp-fit.1", "man", "part")
		testkit.Equal(t, len(testkit.Must(os.ReadDir("part"))(t)), 1, "files")
	})
}

// TestCompletion checks the completions of names, values and extensions.
func TestCompletion(t *testing.T) {
	for line, want := range map[string]struct {
		some   []string
		not    []string
		ending string // cobra's directive
	}{
		"":                              {[]string{"repair", "fit", "predict", "completion"}, nil, ":4"},
		"fit --method ":                 {[]string{"structural", "vssgp", "ssgp", "rp"}, []string{"exact"}, ":4"},
		"evaluate m --inference ":       {[]string{"exact", "factorized"}, []string{"stochastic"}, ":4"},
		"fit --tie ":                    {[]string{"kernel.frequency"}, []string{"noise.precision"}, ":4"},
		"fit --fix noise.precision,":    {[]string{"noise.precision,kernel.variance"}, []string{"noise.precision,noise.precision"}, ":4"},
		"fit --init p":                  {[]string{"paper"}, []string{"spectrum"}, ":0"},
		"fit ":                          {[]string{"csv", "npy", "wav", "sph"}, []string{"safetensors"}, ":8"},
		"impute ":                       {[]string{"wav", "flac", "sph"}, []string{"csv"}, ":8"},
		"impute in.wav --gaps ":         {[]string{"csv"}, nil, ":8"},
		"impute --context ":             {[]string{"all"}, nil, ":4"},
		"forecast ":                     {[]string{"csv", "tsv", "gz"}, []string{"wav", "safetensors"}, ":8"},
		"forecast d.csv --trend ":       {[]string{"none", "line", "damped", "smooth", "walk"}, nil, ":4"},
		"forecast d.csv --prior ":       {[]string{"damped", "damped-length", "smooth"}, nil, ":4"},
		"predict m.safetensors ":        {[]string{"csv", "npy", "wav"}, []string{"safetensors"}, ":8"},
		"predict m i.csv --draws-file ": {[]string{"npy", "wav"}, nil, ":8"},
		"info m.safetensors ":           {nil, []string{"safetensors"}, ":4"},
		"devices ":                      {nil, []string{"csv"}, ":4"},
		"help ":                         {[]string{"forecast", "forecasting", "tables", "completion"}, []string{"help"}, ":4"},
		"help completion ":              {[]string{"bash"}, []string{"tables"}, ":4"},
		"repair a.wav --detect ":        {[]string{"all", "clicks", "clipped"}, nil, ":4"},
		"repair a.wav --detect clicks,": {[]string{"clicks,dropouts"}, []string{"clicks,clicks"}, ":4"},
		"man ":                          {nil, []string{"csv"}, ":16"},
		"fit d.csv -o m --progress ":    {[]string{"auto", "always", "never"}, nil, ":4"},
	} {
		out := succeed(t, append([]string{"__complete"}, strings.Split(line, " ")...)...).stdout
		var got []string
		for l := range strings.Lines(out) {
			got = append(got, strings.SplitN(strings.TrimSpace(l), "\t", 2)[0])
		}
		for _, w := range want.some {
			if !slices.Contains(got, w) {
				t.Errorf("vssgp %s: completes %q, want %q among them", line, got, w)
			}
		}
		for _, w := range want.not {
			if slices.Contains(got, w) {
				t.Errorf("vssgp %s: completes %q, want no %q", line, got, w)
			}
		}
		if len(got) == 0 || got[len(got)-1] != want.ending {
			t.Errorf("vssgp %s: ends %q, want %s", line, got, want.ending)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := succeed(t, "completion", shell).stdout; !strings.Contains(out, "vssgp") || len(out) < 1000 {
			t.Errorf("completion %s: %d bytes", shell, len(out))
		}
	}
}

// keysOf formats the keys of a JSON value in order, such as {a b{c}}. For a list, it formats the first element.
func keysOf(t *testing.T, d *json.Decoder) string {
	t.Helper()
	token := testkit.Must(d.Token())(t)
	var parts []string
	switch token {
	case json.Delim('{'):
		for d.More() {
			key := testkit.Must(d.Token())(t)
			parts = append(parts, key.(string)+keysOf(t, d))
		}
	case json.Delim('['):
		for d.More() {
			if keys := keysOf(t, d); parts == nil {
				parts = append(parts, keys)
			}
		}
	default:
		return ""
	}
	d.Token()
	if token == json.Delim('[') {
		return strings.Join(parts, "")
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// TestJSONKeys checks the keys of the JSON output of each command and their order.
func TestJSONKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Put(t, ".", "d.csv", waves(60))
	testkit.Put(t, ".", "at.csv", "t\n1\n2\n")
	testkit.Put(t, ".", "holes.csv", "t,y\n0,1.5\n1,\n2,1\n3,-2\n4,1\n")
	testkit.Put(t, ".", "many.csv", "id,y\na,1.5\na,-2\na,1\na,3\nb,1\n")
	skewed := "t,y\n" // on both scales
	for i := range 30 {
		skewed += fmt.Sprintf("%d,%.3f\n", i, math.Exp(0.8*math.Sin(2.3*float64(i*i))))
	}
	testkit.Put(t, ".", "skewed.csv", skewed)
	damaged(t, ".", 0)
	fit, cut := "d.csv --x t --y y1 --components 2 --window none --iterations 3", "cut0.wav --gap 600:620 --iterations 2 --components 3"
	terms := "terms{noise fit log_determinant kl_frequencies kl_phases}"
	tested := "{rmse mae mase crps coverage95 interval_score95 nlpd}"
	scores := "{train_rmse test_rmse train_stft_rmse test_stft_rmse}"
	for _, c := range []struct{ line, want string }{
		{"fit " + fit + " -o m.st", "{bound log_prior " + terms +
			" init iterations starts{seed bound ended} kept seconds device sums rows components features features_per_component point_frequencies " +
			"noise_sd posterior jitter noise_floor model}"},
		{"evaluate m.st d.csv",
			"{bound " + terms + " inference rows rmse mean_log_predictive_density coverage jitter device sums}"},
		{"evaluate m.st d.csv --gradient", "{bound " + terms +
			" inference rows rmse mean_log_predictive_density coverage jitter device sums gradient{frequency.mean " +
			"frequency.variance inducing.location kernel.frequency kernel.lengthscale kernel.variance noise.precision}}"},
		{"info m.st --top 1",
			"{model version inference fitted inputs outputs ranges features noise_sd components{sd lengthscale period} " +
				"posterior frequencies{feature location frequency frequency_sd period period_sd reach amplitude}}"},
		{"forecast d.csv --y y1,y2 --horizon 2 -o f.csv -m s.st", "{rows horizon periods parts noise_sd bound features seconds device}"},
		{"forecast d.csv --y y1 --horizon 2", "{rows horizon periods parts noise_sd bound features seconds device forecast{columns data}}"},
		{"fill d.csv --y y1 -o f.csv", "{rows filled columns}"}, {"fill holes.csv -o f.csv",
			"{rows filled periods parts noise_sd bound features seconds columns device}"},
		{"forecast many.csv --by id --horizon 2 -o f.csv",
			"{rows series{name rows horizon periods parts noise_sd bound features seconds} seconds device}"},
		{"forecast skewed.csv --season none --horizon 2 -o f.csv",
			"{rows horizon periods parts log log_probability noise_sd bound features seconds device}"},
		{"forecast skewed.csv --season none --log always --horizon 2 -o f.csv",
			"{rows horizon periods parts log noise_sd bound features seconds device}"},
		{"backtest d.csv --y y1 --horizon 5 --origins 1", "{rows horizon origins season scores{vssgp" + tested + " naive" + tested +
			" seasonal_naive" + tested + "} seconds device}"},
		{"fit d.csv --x t --y y1 -o t.st", "{rows periods parts noise_sd bound features seconds device model}"},
		{"evaluate s.st d.csv", "{bound rows rmse mean_log_predictive_density device}"},
		{"info s.st", "{model version inputs outputs rows periods parts noise_sd bound features hyper{name mode lower upper} first last reach}"},
		{"predict m.st at.csv -o p.csv", "{rows columns output device}"},
		{"predict m.st --grid 5 -o p.csv --overwrite", "{rows grid{first last points} columns output device}"},
		{"impute " + cut + " -o o.wav --reference clean.wav --model i.st",
			"{method device seconds iterations bound input rate channels samples missing gaps doubts joint excerpts{start end bound iterations " +
				"features noise_sd} output models scores{ar" + scores + " linear" + scores + " silence" + scores + " vssgp" +
				strings.Replace(scores, "}", " coverage95}}}", 1)},
		{"impute cut0.wav --gap 100:1100 -o o.wav",
			"{method device seconds iterations bound input rate channels samples missing gaps doubts{start end channel reason} joint excerpts{start " +
				"end} output}"},
	} {
		d := json.NewDecoder(strings.NewReader(vssgpRun(t, append(strings.Fields(c.line), "--json", "--quiet")...).stdout))
		got := keysOf(t, d)
		if got != c.want {
			t.Errorf("vssgp %s:\n%s, want\n%s", c.line, got, c.want)
		}
	}
}

// TestJSONTags checks that docs/json.md documents every key of the JSON output.
func TestJSONTags(t *testing.T) {
	page := string(testkit.Read(t, "../../docs/json.md"))
	var sources []string
	for _, pattern := range []string{"internal/*/json.go", "internal/fit/*.go", "internal/cli/[^c]*.go", "../../fit.go", "../../model.go",
		"../../audio/score.go", "../../series/backtest.go", "../../series/model.go", "../../series/predict.go", "../../variational/bound.go"} {
		sources = append(sources, testkit.Must(filepath.Glob(pattern))(t)...)
	}
	keys := regexp.MustCompile("json:\"([a-z0-9_]+)")
	for _, path := range sources {
		for _, key := range keys.FindAllStringSubmatch(string(testkit.Read(t, path)), -1) {
			if !strings.Contains(page, "`"+key[1]+"`") {
				t.Errorf("docs/json.md lacks %s, a key in %s", key[1], path)
			}
		}
	}
}
