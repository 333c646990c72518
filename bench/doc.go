// Command bench runs the project's benchmarks. README.md in this folder contains the results. `bench COMMAND -h` lists the flags.
//
//	go run ./bench paper [-set solar,co2] [-method gp,vssgp] [-data DIR] [-out DIR] [-quick] … [CLASS:FILE …]
//	go run ./bench speed [-n 16000] [-features 800] [-inference exact] [-fitted] [-direct] [-device cuda:0] [-peers numpy,jax,torch] …
//	go run ./bench speed -data FILE -features 400 -fit 20 [-peers celerite4,celerite20] …
//	go run ./bench long [-from 1e4] [-to 1e7] [-python PATH] [-fit 20] [-out FILE.jsonl] [-show] …
//	go run -tags mpi ./bench ranks [-n 1000000] [-features 512] [-inputs 2] [-window 512] [-ranks 1,2,4] [-out FILE.jsonl] [-draw] …
//	go run ./bench tables [-splits 10] [-features 25,50,…] [-drawn 100,400,…] [-outputs 1] [-out FILE.jsonl] [-dump DIR | -show] FILE.csv …
//	go run ./bench repair [-seconds 10] [-sensitivity 5] [-only clicks] [-out FILE.jsonl | -show] FILE.wav …
//	go run ./bench series [-set origins,…] [-data DIR] [-write DIR [-peers ucm,autoets,…]] [-worst N] [FORECASTS.jsonl …]
//	go run ./bench report [-out FILE.json] [-slowest] LINES.jsonl
//	go run ./bench stage [-lines LINES.jsonl] [-output PREFIX] [-took 3s] [-exit N] [-skip WHY] NAME [COMMAND …]
//
// paper runs the experiments of package paper. It prints each table with the paper's numbers next to ours and draws the figures. It stores
// one line for each fit in PREFIX-SET.jsonl in the folder -out, where PREFIX is paper or, with -quick, quick. -draw makes the tables and
// figures from these lines. The same command resumes an interrupted run, because a fit with a stored line is run again only if -again is
// given or the data have changed. A set whose files are not in -data is skipped with a message. Recordings given as arguments, such as
// speech:voice.wav, are added to set gaps. Their path is relative to -data or absolute.
//
// speed times one evaluation on a synthetic problem: bound and gradient (-inference exact or factorised), or means and covariances at the
// rows (predict). As in a fit, the rows are opened once and each evaluation has different parameters. The time includes the transfer of the
// results to the host. The first evaluation warms the caches and is not counted. -peers times other libraries in the same run, each in a
// separate process. A peer's bound and gradient are compared with ours before it is timed, and ours is timed before and after it. A missing
// library is reported in its row. If a peer fails or disagrees, the exit status is 1. If the sums over rows come from tables, the time and
// memory of computing the tables are printed instead of rates.
//
// long times recordings of -from to -to rows with a constant number of features per second: with windows, without windows (M grows with N),
// with sums from tables, and celerite2's likelihood. Each measurement runs in a separate process, so that its peak memory is known. A
// measurement that would exceed -limit seconds or the machine's memory is not run, and neither are longer ones. A slope is the
// least-squares exponent p of seconds (or bytes) ∝ N^p for N ≥ 10⁵ rows, with its standard error.
//
// ranks times an evaluation on several MPI ranks of this machine and compares it with a model of the time: the CPU time of one rank with
// its sums divided by the number of ranks, plus the latency of the messages and their bytes over the bandwidth.
//
// tables fits nine tenths of a table's rows and scores the others, with the default options and with given K and learned or drawn
// frequencies. -dump writes the same splits for peers/tables.py, which appends its lines to the same file.
//
// repair damages recordings by clicks, crackle, dropouts and clipping, then detects and fills the damage. It prints the number of
// detections, also in the undamaged recordings, and the signal-to-error ratio before and after. In recordings with several channels it also
// makes gaps in the first channel and fills them with and without the other channels.
//
// series forecasts public series and scores all methods with the same code (package forecasts). -write writes the problems without the
// test values, and -peers runs peers/series.py on them. Files with other forecasts may follow the flags.
//
// report prints one table of the lines that speed, peers/speed.py and stage write, and collects them in one file, which it can also read.
// build.sh collects programs for a machine with a GPU and without Go. On that machine, device.sh runs tests and measurements. After each
// command, stage determines the result from its exit status and output, and prints and stores a line.
//
// Test data are never used in a fit or a selection. Every method gets the same splits, the same initial information and the same wall time.
// A method that is missing, disagrees, or runs out of memory or time has a row with this status. Tables and figures are made only from
// result files. A line replaces an earlier one with the same key.
//
// Each subcommand is a task (task.go, main.go). The tasks use package machine, which describes the machine at the beginning of every line,
// package jsonl, which reads and writes files of lines, and packages paper and forecasts. Synthetic problems are evaluated by problem.go,
// timing.go, evaluator.go, session.go and peers.go.
package main
