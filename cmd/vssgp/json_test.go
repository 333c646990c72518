package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/testkit"
)

// keysOf writes the keys of a JSON value in their order: {a b{c}} for an object, the first
// element for a list.
func keysOf(t *testing.T, d *json.Decoder) string {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	switch token {
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
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

// TestJSONKeys: what other programs read from each command, in its order.
func TestJSONKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Put(t, ".", "d.csv", waves(60))
	testkit.Put(t, ".", "at.csv", "t\n1\n2\n")
	testkit.Put(t, ".", "holes.csv", "t,y\n0,1\n1,\n2,1\n3,2\n4,1\n")
	damaged(t, ".", 0)
	fit, cut := "d.csv --x t --y y1 --components 2 --window none --iterations 3", "cut0.wav --gap 600:620 --iterations 2 --components 3"
	terms := "terms{noise fit log_determinant kl_frequencies kl_phases}"
	tested := "{rmse mae mase crps coverage95 nlpd}"
	scores := "{train_rmse test_rmse train_stft_rmse test_stft_rmse}"
	for _, c := range []struct{ line, want string }{
		{"fit " + fit + " -o m.st", "{bound log_prior " + terms + " iterations starts{seed bound ended} kept seconds device sums rows components features features_per_component point_frequencies noise_sd posterior jitter noise_floor model}"},
		{"evaluate m.st d.csv", "{bound " + terms + " inference rows rmse mean_log_predictive_density jitter device sums}"},
		{"evaluate m.st d.csv --gradient", "{bound " + terms + " inference rows rmse mean_log_predictive_density jitter device sums gradient{frequency.mean frequency.variance inducing.location kernel.frequency kernel.lengthscale kernel.variance noise.precision}}"},
		{"info m.st --top 1", "{model inference fitted inputs outputs features noise_sd components{sd lengthscale period} posterior frequencies{feature location frequency frequency_sd period period_sd reach amplitude}}"},
		{"forecast d.csv --y y1,y2 --horizon 2 -o f.csv -m s.st", "{rows horizon periods parts noise_sd bound features seconds device}"},
		{"fill d.csv --y y1 -o f.csv", "{rows filled columns}"}, {"fill holes.csv -o f.csv", "{rows filled columns periods parts noise_sd bound features seconds device}"},
		{"backtest d.csv --y y1 --horizon 5 --origins 1", "{horizon origins rows season scores{vssgp" + tested + " naive" + tested + " seasonal_naive" + tested + "} seconds device}"},
		{"fit d.csv --x t --y y1 -o t.st", "{rows periods parts noise_sd bound features seconds device model}"},
		{"evaluate s.st d.csv", "{bound rows rmse mean_log_predictive_density device}"},
		{"info s.st", "{model inputs outputs rows features parts periods hyper{name mode lower upper} noise_sd bound first last reach}"},
		{"predict m.st at.csv -o p.csv", "{rows columns output device}"},
		{"impute " + cut + " -o o.wav --reference clean.wav --model i.st", "{method device seconds iterations bound rate channels samples missing gaps doubts joint excerpts{start end bound iterations features noise_sd} output models scores{ar" + scores + " linear" + scores + " silence" + scores + " vssgp" + strings.Replace(scores, "}", " coverage95}}}", 1)},
		{"impute cut0.wav --gap 100:1100 -o o.wav", "{method device seconds iterations bound rate channels samples missing gaps doubts{start end channel reason} joint excerpts{start end} output}"},
	} {
		d := json.NewDecoder(strings.NewReader(succeed(t, append(strings.Fields(c.line), "--json", "--quiet")...).stdout))
		if got := keysOf(t, d); got != c.want {
			t.Errorf("vssgp %s:\n%s, want\n%s", c.line, got, c.want)
		}
	}
}
