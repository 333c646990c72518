// Command bench makes the project's figures. What is here:
//
//	go run ./bench starts [-rms 0.05] [FILE.wav …]
//
// starts cuts vowels and running speech out of recordings, takes samples out,
// and fills them from each start beside autoregressive fills: error, coverage,
// bound and time.
//
// The rest of this page is the contract of what is to come: the paper's tables,
// speed against other methods and libraries, long recordings.
//
//	go run ./bench paper [-set NAME] [-out DIR]
//	go run ./bench speed [-device cpu,cuda:0] [-out DIR]
//	go run ./bench long  [-minutes 1,10] [-out DIR]
//
// paper runs the experiments of the paper with its settings (monthly CO2, solar
// irradiance with missing segments, speech of 1000, 4000 and 16000 samples with
// gaps): each method, several seeds, train and test error and the bound.
//
// speed times the four passes and whole fits over N, M, D and V, the plain
// loops and each device beside each other, sizes where the CPU wins included.
//
// long fills gaps in recordings of minutes: wall time and memory against
// length, with the slope of both.
//
// # Rules
//
// Test data never take part in a fit or in a choice. Every method gets the
// same cuts, the same starting information and the same wall time. Progress is
// shown against wall time, not iterations. A method that runs out of memory or
// time keeps its row, saying so. Clocks are read after the device is
// synchronised; the first run, which warms caches, is not counted; the median
// and the range of at least five runs are.
//
// # Result files
//
// A run appends lines of JSON, one for each measurement, to DIR/NAME.jsonl:
//
//	commit, dirty           of this repository
//	time                    start, UTC, RFC 3339
//	go, os, arch            of the build
//	cpu, cores, memory      model, GOMAXPROCS, bytes
//	gpu, driver, ptx        card, driver version, hash of kernels.sum; or null
//	bench, case, seed       what was run
//	data                    name and SHA-256 of the file; null where it is made
//	method                  vssgp, ssgp, rp, full GP, AR fill, …, with its version
//	inference, window       as the command line has them
//	N, Q, D, L, K, M, V     sizes
//	device, precision       that computed
//	iterations, bound
//	train_rmse, test_rmse   in units of y; stft_rmse where it is audio
//	coverage95, mean_log_density
//	trace                   [[seconds, iteration, bound, test_rmse], …]
//	seconds                 {total, start, features, moments, host, pullback, copies}
//	rows_per_second, gflops, gbytes_per_second   from counts written in the code
//	host_bytes, device_bytes                     at the peak
//	status                  ok, "out of memory", "time limit" or an error's text
//
// Tables and figures are made from these files alone, so that a figure can be
// traced to its commit and machine.
package main
