package main

// fitFlags are the flags of fit beside the model's.
type fitFlags struct {
	model      *modelFlags
	columns    columns
	output     string
	checkpoint checkpointFlags
	plan       bool
	report     string
}
