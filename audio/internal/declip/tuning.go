package declip

const (
	orderSeconds  = 0.014
	windowSeconds = 0.12  // of a model
	hopSeconds    = 0.02  // from model to model
	grainSeconds  = 0.001 // of errors of the same variance
	coreSeconds   = 0.5   // of a section, and what it looks at on either side:
	sideSeconds   = 0.1

	dense     = 0.33 // where more is missing, the order falls in proportion
	rounds    = 12   // of model and sweep in turn,
	even      = 2    // the first of them with the same variance for all errors of a tile
	jitters   = 4    // attempts to factor a precision with more on its diagonal
	sweeps    = 5    // at most, with the models as they are
	settled   = 0.02 // standard deviations that no sample moves by any more
	share     = 0.9  // of the way that a site goes in a sweep
	unsteady  = 2.25 // variance of the prediction errors that come over that of the errors before
	prior     = 5    // errors that the prior of a grain's variance counts for
	weakLimit = 4    // levels: root of the weak prior's variance for a run of one sample
	doubtful  = 6    // standard deviations from what the others say up to a limit that is not believed,
	louder    = 2    // nor one that is so many times what is there around: a sound passes every value on its way
)
