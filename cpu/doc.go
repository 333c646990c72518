// Package cpu is the spectral.Backend that runs everywhere: plain Go on all
// cores.
//
// Rows are cut into runs that meet the features of the same windows, runs
// into tiles of tileRows rows. A tile's features are made, used and forgotten;
// no N×M array exists. Every element of a result is summed by one goroutine
// at a time in an order that only the data and the tile size decide, so the
// same input gives the same bits for any GOMAXPROCS: runs over windows of one
// parity touch different features, so even runs go side by side, then odd ones
// (schedule.go); where there are few runs, a tile's features are shared out in
// blocks instead.
//
// feature.go holds the damped cosines and their derivatives, dot.go the inner
// products; moments.go, pullback.go, factorised.go and predict.go one pass
// each.
package cpu
