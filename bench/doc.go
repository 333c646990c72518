// Command bench runs the project's benchmarks; README.md in this folder has the results, and `bench COMMAND -h` lists the flags.
//
//	go run ./bench paper [-set solar,co2] [-method gp,vssgp] [-data DIR] [-out DIR] [-quick] … [CLASS:FILE …]
//	go run ./bench speed [-n 16000] [-features 800] [-inference exact] [-fitted] [-direct] [-device cuda:0] [-peers numpy,jax,torch] …
//	go run ./bench speed -data FILE -features 400 -fit 20 [-peers celerite4,celerite20] …
//	go run ./bench long [-from 1e4] [-to 1e7] [-python PATH] [-fit 20] [-out FILE.jsonl] [-draw] …
//	go run -tags mpi ./bench ranks [-n 1000000] [-features 512] [-inputs 2] [-window 512] [-ranks 1,2,4] [-out FILE.jsonl] [-draw] …
//	go run ./bench tables [-splits 10] [-features 25,50,…] [-drawn 100,400,…] [-outputs 1] [-out FILE.jsonl] [-dump DIR | -show] FILE.csv …
//	go run ./bench repair [-seconds 10] [-sensitivity 5] [-only clicks] [-out FILE.jsonl | -show] FILE.wav …
//	go run ./bench clicks [-fit internal/clicks/weights.go] FILE.wav …
//	go run ./bench series [-set origins,…] [-data DIR] [-write DIR [-peers ucm,autoets,…]] [-worst N] [FORECASTS.jsonl …]
//	go run ./bench report [-out FILE.json] [-slowest] LINES.jsonl
//	go run ./bench stage [-lines LINES.jsonl] [-output PREFIX] [-took 3s] [-exit N] [-skip WHY] NAME [COMMAND …]
//
// paper runs the experiments of package paper, prints each table with the paper's numbers next to ours, draws the figures, and stores a line
// for each fit in PREFIX-SET.jsonl of -out, from which -draw makes tables and figures. PREFIX is paper or, with -quick, quick. A fit that
// has a line is not run again, unless with -again or on other data, so the same command resumes an interrupted run. A set whose files are
// not in -data is skipped with a message. Recordings given as arguments, such as speech:voice.wav, are added to set gaps; FILE is in -data
// or a whole path.
//
// speed times one evaluation on a synthetic problem: bound and gradient (-inference exact or factorised), or means and covariances at the rows
// (predict). As within a fit, the rows are opened once, and each evaluation is at other parameters; the clock is read when host values have
// come back; the first evaluation, which warms caches, is not counted. -peers times other libraries in the same run, each in its own
// process: its bound and gradient are compared with ours before it is timed, and ours is timed before and after it. A missing library has a
// row that reports it; a result that disagrees or fails ends the run with exit status 1. If the sums over rows come from tables, the time
// and memory of computing the tables are printed instead of rates.
//
// long times recordings of -from to -to rows that have equally many features a second: with windows; without, where M grows with N; with
// sums from tables; and celerite2's likelihood. Each measurement runs in its own process, so that its peak of memory is known. One that
// would take more than -limit seconds, or more memory than there is, is not run, and longer ones are not tried. A slope is the
// least-squares exponent p of seconds (or bytes) ∝ N^p from 10⁵ rows on, with its standard error.
//
// ranks times an evaluation on several MPI ranks of this machine and compares it with a model: the CPU time of one rank, its sums over the
// number of ranks, plus messages by latency and bytes by bandwidth.
//
// tables fits nine tenths of a table's rows and scores the others: the default, and K by hand with frequencies learned or drawn. -dump
// writes the same splits for peers/tables.py, which appends its lines to the same file.
//
// repair damages recordings by clicks, crackle, dropouts and clipping, finds and fills the damage, and prints the number of finds,
// also in the undamaged recordings, and the signal-to-error ratio before and after. In stereo recordings the first channel gets gaps,
// filled with and without the other.
//
// clicks adds faint and loud clicks to recordings, and prints the recall of the click detector by level, and its false finds by
// sensitivity. -fit first fits the detector's weights to the recordings. bench/clicks_sounds.sh makes recordings.
//
// series forecasts public series, and scores all methods with the same code (package forecasts). -write writes the problems, without the truth;
// -peers runs peers/series.py on them; files with other forecasts may follow the flags.
//
// report prints one table of the lines that speed, peers/speed.py and stage write, and collects them in one file, which it reads as well.
// build.sh collects programs for a machine with a GPU and without Go, where device.sh tests and measures: it runs commands, and stage
// determines the result from a command's exit status and output, and prints and stores its line.
//
// Test data are never used in a fit or a selection. Every method gets the same cuts, the same starting information and the same wall time.
// A method that is missing, disagrees, or runs out of memory or time has a row that reports it. Tables and figures are made from result
// files alone. A line replaces an earlier one with the same key.
//
// Each subcommand is a task (task.go, main.go). Below the tasks: package machine, which begins every line; package jsonl, the files of
// lines; package paper; package forecasts; and problem.go, timing.go, held.go, session.go and peers.go, which evaluate synthetic problems.
package main
