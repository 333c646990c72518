package clicks

// The constants that are set by hand; docs/repair-clicks.md has the experiments.
const (
	order        = 48    // of the model: more finds softer clicks in music, and costs time
	longest      = 40    // samples of the longest candidate: time grows with it
	hopSeconds   = 0.020 // of a window's own part: the model follows the sound in such steps
	reachSeconds = 0.015 // of sound on either side that the model is fitted to, too: more is a better estimate of a less current model
	sizeSamples  = 256   // for the size of the errors: a click and its errors are less than half of them
	nearSeconds  = 0.008 // around a candidate that say how large errors and samples are there
	noticed      = 6.5   // nats from which a place is looked into: less costs time
	perSample    = 0.2   // nats that each sample of a candidate costs: more makes candidates shorter
	large        = 0.3   // of a candidate's largest change, to which it may be cut
	step         = 4     // samples by which the ends of a candidate move at first: less misses ends farther away
	border       = 4     // samples outside a window's part at which a candidate's middle may lie: less loses clicks that straddle two
	small        = 0.03  // of it, below which the samples at either end are not part of a find: more makes finds shorter
	early        = 1.5   // log-odds from which a candidate is taken out of the sound before the second pass
	crowd        = 0.55  // log-odds for each e times as many clicks nearby: more finds more crackle, and more in error there
	few          = 0.01  // clicks a second, that are many for a clean recording
	sure         = 4.0   // log-odds from which a candidate is counted for that,
	crowdSeconds = 10    // within so many seconds
	mostDense    = 100   // a second: above that no more of them are expected
	usual        = -0.4  // log-odds asked for at sensitivity 5,
	point        = 0.7   // and less for each point more
	join         = 2     // samples between two clicks that make them one
)

// lengths are those of the longest candidates that compete at a start: more of them cost time.
var lengths = [...]int{2, 6, 16, longest}
