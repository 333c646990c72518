// Command bench runs the project's benchmarks, which measure what users call. README.md in this folder has the results,
// and `bench COMMAND -h` lists the flags.
//
//	go run ./bench paper [-set solar,co2] [-method gp,vssgp] [-data DIR] [-quick | -draw] [CLASS:FILE …]
//	go run ./bench speed [-n 16000] [-features 800] [-inference exact] [-device cuda:0] [-peers numpy,jax,torch] …
//	go run ./bench speed -inputs 2 [-uneven] [-fitted] [-direct] [-peers numpy,gp1000,efgp,ski,svgp] …
//	go run ./bench speed -data FILE -features 400 -fit 20 [-peers celerite4,celerite20] …
//	go run ./bench speed -show LINES.jsonl …
//	go run ./bench long [-from 1e4] [-to 1e7] [-fit 20] [-python PATH] [-show] …
//	go run -tags cuda ./bench mma -image FILE [-device cuda:0] [-out FILE]
//	go run ./bench performance -base OLD [-head NEW] [-out FILE]
//	go run -tags mpi ./bench ranks [-n 1000000] [-features 512] [-inputs 2] [-window 512] [-ranks 1,2,4] [-show] …
//	go run ./bench tables [-splits 10] [-features 25,50,…] [-drawn 0,400,…] [-holes 12] [-dump DIR | -show] FILE|DIR …
//	go run ./bench regression [-half dev|judge] [-seeds 4] [-kind rbf-gap,…] [-data DIR] [-out FILE | -dump DIR] [-long] …
//	go run ./bench regression -show LINES.jsonl … | -compare OLD.jsonl NEW.jsonl
//	go run ./bench repair [-seconds 10] [-sensitivity 5] [-only clicks] [-show] FILE.wav …
//	go run ./bench clipped [-sdr 1,3,5,7,10,15] [-method vssgp,adeclip,spade] [-python PATH] [-show] FILE.wav …
//	go run ./bench gift [-task m3/yearly,…] [-half development] [-data DIR] [-command OLD,NEW] [-csv FILE] [-show] …
//	go run ./bench series [-set origins,…] [-data DIR] [-write DIR [-peers ucm,autoets,…]] [-show] [FORECASTS.jsonl …]
//
// paper runs the experiments of Gal & Turner (2015) and fills of gaps in recordings (package paper).
//
// speed times one evaluation of a bound with its gradient, or of predictions, on a synthetic problem or on data. The
// rows are opened once, as in a fit, and each evaluation has other parameters. -peers times other libraries in the same
// run, after comparing their bound and gradient with ours. build.sh and device.sh run it on a machine with a GPU and
// without Go.
//
// long times recordings of growing length with a constant number of features per second, each in its own process: with
// windows, without windows, with sums from tables, and celerite2's likelihood. It fits the exponent of the time and of
// the memory.
//
// mma measures the rate of a GPU's float64 tensor cores alone, by kernels that build.sh compiles (package mma).
//
// performance compares the processor seconds of ten fixed commands of two builds of vssgp, and fails if one of them is
// more than 15 % slower in the new build. It runs every night with the last release as the old build.
//
// ranks times an evaluation on several MPI ranks of this machine and compares it with a model of the time.
//
// tables fits nine tenths of a table's rows and scores the others. -holes also holds out squares of a map, whose scores
// are separate. A folder has other splits, written by -dump or by peers/mapdata.py, which makes small fields of two
// inputs. peers/tables.py does the same by other libraries. The table compares the methods on the same splits.
//
// regression fits the default model of vssgp.Fit and of series.Fit to one input, and scores predictions at the rows, in
// gaps and beyond the rows (package regression). peers/regression.py does the same by other libraries. Even seeds are for
// tuning, odd seeds for reporting. -compare prints paired differences between two builds on the same problems.
//
// repair damages recordings, then detects and fills the damage. It counts the detections and measures the
// signal-to-error ratio.
//
// clipped clips recordings at several ratios of the sound to the distortion, finds and restores the clipped samples, and
// does the same by ffmpeg's adeclip and by peers/spade.py.
//
// gift runs the command vssgp forecast on tasks of the leaderboard GIFT-Eval and of forecasting competitions, by their
// protocols, and compares it with other builds, published scores and peers/series.py (package gift).
//
// series forecasts public series and scores all methods, including peers/series.py, with the same code (package
// forecasts).
//
// Every measurement is a line of JSON with the machine and the commit, which is stored at once, so that an interrupted
// run keeps what it had. Tables and figures are made only from these lines (-show, -draw). Test data are never used in
// a fit or a selection. Every method gets the same splits, the same initial information and the same time. A method
// that is missing, disagrees, or runs out of memory or time has a row with this status.
package main
