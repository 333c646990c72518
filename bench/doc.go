// Command bench makes the project's figures.
//
//	go run ./bench paper [-set solar,co2] [-method gp,vssgp] [-data DIR] [-out DIR] [-quick] …
//	go run ./bench starts [-rms 0.05] [FILE.wav …]
//	go run ./bench speed [-n 16000] [-features 800] [-inference exact] [-device cuda:0] [-peers numpy,jax,torch] …
//	go run ./bench long [-from 1e4] [-to 1e7] [-python PATH] [-fit 20] [-out FILE.jsonl] [-draw] …
//	go run -tags mpi ./bench ranks [-n 1000000] [-features 512] [-window 512] [-ranks 1,2,4] [-out FILE.jsonl] [-draw] [-plan] …
//	go run ./bench windows [-out DIR] [-table | -choose FILE]
//	go run ./bench recording [-minutes 10] [-components 20] [-iterations 30] [-out FILE.jsonl] FILE.wav
//	go run ./bench report [-out FILE.json] LINES.jsonl
//	go run ./bench compare [-tolerance 1e-6] A.json B.json
//
// paper runs the experiments of the paper, and some more, with every method
// that it compares: package paper says which. It prints each table with the
// paper's numbers beside ours, draws the figures as PNG and SVG, and keeps a
// line of JSON for each fit in -out (default bench/results), from which -draw
// makes tables and figures without running anything. What there is a line of is
// not run again, unless with -again or on other data, so that an interrupted run
// goes on with the same command. Data files come from -data (default
// data); a set whose files are
// not there says so and is left out. -quick runs a small version of everything
// on the files in testdata, into a temporary folder.
//
// starts cuts vowels and running speech out of recordings, takes samples out,
// and fills them from each start beside autoregressive fills: error, coverage,
// bound and time.
//
// speed times one evaluation on a made problem: bound and gradient
// (-inference exact or factorised), or means and covariances at the rows
// (predict). The data are at the device already, as within a fit, and host
// values have come back when the clock is read; the first evaluation, which
// warms caches, is not counted. -device names one device, cpu or cuda:n[,m…]:
// a measurement never chooses. -peers times NumPy, JAX and PyTorch in the same
// run, by peers/speed.py and the Python that -python names: each computes the same
// bound and gradient, which are compared with ours before its time is taken, in a
// process of its own, and ours is timed before and after it. A library that is
// missing has a row that says so; one that disagrees or fails ends the run with
// exit status 1. -dump DIR writes the problem with its bound and gradient for
// peers/speed.py to be run by hand.
//
// windows draws what windows do to the covariance of a tone, and to its
// spectrum; -table fills gaps in a tone, a chord and one with vibrato, with
// windows and without.
//
// recording makes a recording of -minutes by repeating a file, cuts gaps of -gap
// samples in every -every, and fills them with one model of the whole: the bound
// as it rises, time, memory and errors.
//
// long times recordings of -from to -to rows, -per lengths in a decade, that
// have equally many features a second: bound and gradient with windows; the same
// without, with as many features, so that M grows with N; and celerite2's
// likelihood, by peers/celerite.py. Windows run `bench speed`; each method and
// length has a process of its own, whose peak of memory is its own. What would
// take more than -limit seconds, by the length before it and the count of
// operations, or more memory than there is, is not run: its row says so, and
// longer ones are not tried. -fit adds a fit from the made model with windows.
// Table, slopes and figure (long.png, long.svg beside -out) are made from the
// lines; a line takes the place of an earlier one of the same method, N and
// model, and -draw runs nothing.
//
// report prints one table of lines of JSON, as speed, peers/speed.py and
// device.sh write them, and collects them in one file. compare says whether two
// outputs of `vssgp … --json` have the same bound.
//
// build.sh and device.sh are for a machine with a card and without Go: the
// first, here, makes a folder of programs; the second, there, runs the tests on
// the card, one fit on both devices, speed, the peers, and the tests under
// compute-sanitizer, and leaves results/device-DATE-CARD.json.
//
// # Made problems
//
// Rows lie at x = 0, 1, 2, … samples, jittered with -uneven; further inputs are
// drawn over the same range. Outputs are eight sinusoids and noise of standard
// deviation 0.1. The model is such as a fit of audio has: up to 16 components
// (in each window, with -window W) of length-scales of 10 to 30 samples, and
// -features features (in each window) that live over a quarter of the window or
// more, with uniform phases. The seed decides everything, on every machine.
//
// # Lines of speed
//
// -out FILE appends one line of JSON; -json prints it.
//
//	commit, dirty           of this repository
//	time                    start, UTC, RFC 3339
//	go, os, arch            of the build
//	cpu, cores, memory      model, GOMAXPROCS, bytes
//	gpu, driver, ptx        card, driver version as -driver gives it, SHA-256 of
//	                        the PTX that the card was given; absent on the CPU
//	bench, case, seed       what was run; case is -case, or made of the sizes
//	method                  vssgp
//	inference, window       exact, factorised or predict; length in samples, 0: none
//	even                    whether rows are on the grid
//	N, Q, D, L, K, M, V     sizes; M = L·K in all windows together
//	device, precision       that computed
//	simd                    avx512, avx2 or go: the CPU's kernels
//	repeats                 timed evaluations; with peers those of all rounds
//	bound                   absent for predict
//	seconds_per_evaluation  the median
//	seconds_range           least and most
//	seconds                 medians of the parts: {open, moments, pullback,
//	                        factorised, predict, host}; host is all of the
//	                        evaluation that is no pass over the rows; open (order
//	                        of the rows, upload) is once in a fit and no part of
//	                        the evaluation. On the CPU {features, accumulation}
//	                        are moments' two parts, each the time of all cores
//	                        over their number; what is left of moments is waiting
//	                        and what is done once with the sums. On a card that does
//	                        the algebra of windows, solve is moments and algebra;
//	                        with -kernels algebra is its kernels' own time (the
//	                        adjoint's counts to pullback) and moments the rest
//	kernel_seconds          by kernel, the mean in an evaluation: a card's with
//	                        -kernels; on the CPU each pass's parts, summed over
//	                        the cores. The CPU's are taken in further evaluations,
//	                        for looking at the clock takes time too; features and
//	                        accumulation have the same shares of moments as there;
//	                        with -clocked=false there are none of the three
//	rows_per_second         N over seconds_per_evaluation
//	flop                    of each pass, counted as below
//	gflops                  flop over seconds, of each pass and of the evaluation;
//	                        accumulation: n·m² over its own time
//	peak_tflops, share_of_peak   -peak, or as measured on the CPU (below); gflops
//	                        over it
//	host_bytes              the process's largest resident size (Linux)
//	evaluation_bytes        how far it grew in the first evaluation, which makes all
//	                        that the next ones use again, while the garbage
//	                        collector works all along: what is held at once
//	evaluation_matrices     the same over 8·M², for exact without windows
//	device_bytes            the most held of any one card's memory
//	fit                     with -fit: {iterations, seconds, bound, ended,
//	                        host_bytes} of a fit from the made model
//	status                  ok, or "out of memory: …"; such a line has no times
//
// -peers adds a line for each peer, with the fields of peers/speed.py and
//
//	case                    as in our line
//	ours_seconds            the median of ours in the rounds before and after it
//	ratio                   seconds_per_evaluation over ours_seconds: above 1 we
//	                        are ahead
//
// # The CPU's peak
//
// Before and after each round of evaluations all cores multiply and add in
// registers at once, for 60 ms, with the instruction set of the kernels. Each
// core's best run counts, and of all measurements the largest: what else a
// machine does only takes away, so that shares are rather too low than too high.
//
// # Counts
//
// A run is a stretch of n rows that meet the same m features; without windows
// it is all rows and all features. Multiplications and additions count one
// each; sines, cosines and exponentials do not, so rates are of useful products
// alone.
//
//	moments     Σ_runs n·m² + 2·n·m·D
//	pullback    Σ_runs 2·n·m²
//	factorised  Σ_runs n·m·(6·D + 8·Q + 22)
//	predict     Σ_runs 2·n·m² + 2·n·m·D
//	algebra     of windows: Σ_v of factor and stored blocks of the inverse (package
//	            internal/cost), whatever a card does besides; no part of the
//	            evaluation's rate
//
// moments counts each entry of the symmetric product once, as a SYRK does.
//
// # Rules
//
// Test data never take part in a fit or in a choice. Every method gets the
// same cuts, the same starting information and the same wall time. A method
// that is missing, disagrees, or runs out of memory or time keeps its row,
// saying so. Tables and figures are made from result files alone, so that a
// figure can be traced to its commit and machine.
//
// # Lines of paper
//
// PREFIX-SET.jsonl has one line a fit, PREFIX being paper or quick.
//
//	commit … memory, time   as above
//	set, quick, case, gap, K, method, start, seed   which fit it is
//	data, sha256            the file fitted to
//	N, M, iterations, bound rows fitted to; features or inducing inputs; as ended
//	seconds, ended          wall time of the fit, of all its starts; why it ended
//	scores                  {train_rmse, test_rmse, coverage95, nlpd, …}: solar in
//	                        standard deviations of the data, co2 in ppm, cuts of
//	                        recordings scaled to an rms of 0.1
//	learnt                  {lengthscale, period (0: none), variance, noise_sd,
//	                        confident: [{component, frequency, sd}, …]} in x's units
//	curve                   {x, mean, sd, observed, missing}, for figures
//	status                  ok, or why there are no scores
//
// # Lines of long
//
//	commit … memory, time   as above
//	bench                   long
//	method                  windows, dense, celerite value or celerite gradient
//	N, M, V                 rows, features in all, windows
//	features, window        of each window; of dense, those that set its M
//	terms                   of celerite: oscillators, J = 2·terms
//	version                 celerite2's
//	repeats, seconds_per_evaluation, seconds_range, seconds, bound, host_bytes, fit
//	                        as above: bound and gradient with windows and dense; of
//	                        celerite the log-likelihood, with its gradient or without
//	status                  ok, or why there is no time: not run: …, missing: …,
//	                        disagrees: …, out of memory: …, time limit: …, failed: …
//
// A slope is the least-squares exponent p of seconds (or bytes) ∝ N^p over the
// lengths from 10⁵ rows on, with its standard error.
//
// What is the same with celerite and what is not: both are exact, cost O(N), and
// have the same kind of data. celerite's is the likelihood of a stationary
// covariance, the same J/2 oscillators all along the recording, in O(N·J²) on one
// core. Ours is the variational bound of a model whose every window has features
// of its own, with the gradient by all of them, on all cores. Times compare what
// an evaluation costs, not what it is worth.
//
// # Lines of ranks
//
//	commit … memory, time   as above
//	N, M, V, window         rows, features in all, windows and their length
//	ranks, cores_per_rank   how many; each one's GOMAXPROCS
//	cores_of_all            that they have together, no more than the machine's
//	repeats                 evaluations, of which the quickest counts
//	seconds_per_evaluation  bound and gradient, the rows being there
//	cpu_seconds             processor time of rank 0 in it, and in opening the rows (Linux)
//	sums, waiting, communication, host   of seconds_per_evaluation: rank 0's passes
//	                        and its part of the algebra; its waiting for the slowest
//	                        rank; numbers on their way; all else, which is rank 0's alone
//	bytes, open_bytes       to and from rank 0 in an evaluation; once, with the rows
//	open                    seconds for the rows
//	latency, bandwidth      of a message to all and back; bytes a second of 8 MB to all
//	                        and a sum of as many
//
// The table's model is cpu_seconds of one rank, its sums over the number of ranks,
// plus messages by latency and bytes by bandwidth.
package main
