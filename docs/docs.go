// Package docs contains the pages that `vssgp help TOPIC` prints. It is part of the command, not of the Go interface.
// It is in this folder because Go embeds only files at or below the folder of a package.
package docs

import "embed"

//go:embed choosing.md command-line.md fills.md forecasting.md json.md maps.md
//go:embed priors.md regression.md repair.md series.md tables.md
var pages embed.FS

// A Topic is a page about the use of the command.
type Topic struct {
	Name  string // in `vssgp help NAME`
	File  string // the page in this folder
	Short string // the content of the page in a few words
}

// Topics lists the pages that help texts name.
var Topics = []Topic{
	{"tables", "tables.md", "Formats, columns and dates of tables"},
	{"repairing", "repair.md", "Find and fill damage in recordings"},
	{"fills", "fills.md", "How gaps in recordings are filled"},
	{"forecasting", "forecasting.md", "Forecast and fill time series"},
	{"series", "series.md", "The model of a time series"},
	{"regression", "regression.md", "Fit Gaussian processes to tables and recordings"},
	{"maps", "maps.md", "Fit, fill and draw maps: two inputs"},
	{"choosing", "choosing.md", "Choose a model and its options"},
	{"priors", "priors.md", "Priors and uncertainty of hyper-parameters"},
	{"command-line", "command-line.md", "Output, files, memory, devices and completion"},
	{"json", "json.md", "The output of --json"},
}

// Page returns the text of a topic in Markdown.
func (t Topic) Page() string {
	text, err := pages.ReadFile(t.File)
	if err != nil {
		panic(err) // the page is not embedded
	}
	return string(text)
}
