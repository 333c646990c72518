package main

import "slices"

// An operand is a positional argument of a command.
type operand struct {
	name       string
	choice     []string // words that it may be
	extensions []string // of the files that it may be
}

var (
	modelOperand     = operand{name: "MODEL", extensions: modelFiles}
	dataOperand      = operand{name: "DATA", extensions: slices.Concat(tableFiles, recordingFiles)}
	recordingOperand = operand{name: "IN.wav", extensions: recordingFiles}
)

// Extensions of files, by what they are.
var (
	recordingFiles = []string{"wav", "wave", "sph", "nist"}
	tableFiles     = []string{"csv", "npy"}
	modelFiles     = []string{"safetensors"}
	plotFiles      = []string{"html", "png", "svg"}
)
