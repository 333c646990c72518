#!/usr/bin/env bash
# Runs tests and measurements on a machine with a GPU, with the files of build.sh:
#
#   device.sh DIR [RESULTS]
#
# The script writes three files to RESULTS (default: DIR/results). The lines of JSON of each stage are appended to a file with
# extension jsonl when the stage ends, so that a killed run loses at most one stage. `bench report` makes the table of these
# lines. At the end, device-DATE-CARD.json contains all lines in one object, and device-DATE-TIME.tgz the output of each stage.
#
# A stage that fails or exceeds its time limit does not stop the others. `bench stage` determines the status of a command from
# its output and exit status. The exit status is 1 if any stage failed. Clocks, power and MIG are read and never set.
#
#   VSSGP_DEVICE_STAGES=names    stages: start speed tests compare rates peers profile fit sanitize (default: all, in this order)
#   VSSGP_DEVICE_CARD=n          number of the GPU (default: 0)
#   VSSGP_DEVICE_SECONDS=n       total time (default: 540); later stages are not started
#   VSSGP_DEVICE_SMALL=1         small sizes, to test this script
#   VSSGP_DEVICE_PYTHON=path     Python with torch and jax (default: python3)
#   VSSGP_DEVICE_TESTS=regexp    tests of gpu.test
#   VSSGP_DEVICE_SANITIZE=regexp tests of gpu.test for compute-sanitizer
#   VSSGP_DEVICE_PROFILE=names   kernels for ncu (default: the two that take the most time)
set -uo pipefail

[ $# -ge 1 ] && [ -x "$1/bin/bench" ] || { echo "usage: device.sh DIR [RESULTS], DIR made by build.sh" >&2; exit 2; }
for name in ${VSSGP_DEVICE_STAGES:-}; do
	[[ " start speed tests compare rates peers profile fit sanitize " == *" $name "* ]] ||
		{ echo "device.sh: unknown stage $name; must be start speed tests compare rates peers profile fit sanitize" >&2; exit 2; }
done
dir=$(cd "$1" && pwd)
results=${2:-$dir/results}
mkdir -p "$results" && results=$(cd "$results" && pwd) || exit 2
bench=$dir/bin/bench
vssgp=$dir/bin/vssgp
card=${VSSGP_DEVICE_CARD:-0}
device=cuda:$card
python=${VSSGP_DEVICE_PYTHON:-python3}
deadline=$((SECONDS + ${VSSGP_DEVICE_SECONDS:-540} - 8)) # a stage may take 2 seconds to terminate, the table 1
small=${VSSGP_DEVICE_SMALL:-}
commit=$(cat "$dir/commit")
base=device-$(date -u +%F-%H%M%S)
lines=$results/$base.jsonl
echo "{\"facts\":{\"commit\":\"$commit\",\"machine\":\"$(uname -sm)\",\"cores\":\"$(nproc)\"}}" >>"$lines" || exit 2
echo "lines are kept in $lines"
work=$(mktemp -d) || exit 1
run=$work/$base
export CUDA_CACHE_PATH=$work/cache # so that only the first start compiles the kernels
mkdir -p "$run" "$CUDA_CACHE_PATH" || exit 1
failed=0
child= # process ID of the running stage

# finish makes the table of the existing lines when the script ends or is terminated by a signal.
finish() {
	[ -z "$child" ] || { kill "$child"; failed=1; }
	tar -czf "$results/$base.tgz" -C "$work" "$base" || failed=1
	rm -rf "$work"
	echo
	"$bench" report -out "$results" "$lines" || failed=1
	exit $failed
}
trap finish EXIT

# selected GROUP reports whether this group of stages is selected.
selected() { [[ " ${VSSGP_DEVICE_STAGES:-$1} " == *" $1 "* ]]; }

skip() { "$bench" stage -lines "$lines" -skip "$2" "$1" || failed=1; }

# needs STAGE PROGRAM [WHY] skips the stage if the program is missing.
needs() { command -v "$2" >/dev/null || { skip "$1" "no $2${3:-}" && false; }; }

# stage NAME LIMIT COMMAND… runs a command and stores its output.
stage() {
	local name=$1 limit=$2 began rc
	shift 2
	[ $limit -le $((deadline - SECONDS)) ] || limit=$((deadline - SECONDS))
	[ $limit -ge 3 ] || { skip "$name" "no time left for it"; return 1; }
	printf '{"stage":"%s","seconds":0,"status":"interrupted"}\n' "$name" >>"$lines"
	began=$(date +%s%N)
	timeout -k 2 "$limit" "$@" >"$run/$name.out" 2>"$run/$name.err" </dev/null &
	child=$!
	wait "$child"
	rc=$?
	child=
	"$bench" stage -lines "$lines" -output "$run/$name" -device "$device" -took $(($(date +%s%N) - began))ns -exit $rc "$name" "$@" ||
		{ failed=1 && return 1; }
	return $rc
}

# speed NAME LIMIT ARGUMENTS… measures a row of the table, or two with a peer.
speed() { stage "$1" "$2" "$bench" speed -commit "$commit" -repeats $repeats -json "${@:3}"; }

# compare NAME ARGUMENTS… compares bound and gradient with the CPU.
compare() { stage "$1" 40 "$bench" speed -device "$device" -check -repeats 1 "${@:2}"; }

# tests NAME LIMIT PACKAGE PATTERN [TOOL…] runs the test program of a package in its folder, under a tool if one is given.
tests() { stage "$1" "$2" env -C "$dir/test/$3" VSSGP_REQUIRE_GPU=1 "${@:5}" "./$3.test" -test.v -test.run "$4"; }

# Rows and features of the cases.
n=1000000 m=1024 wide=4096 each=64 window=1024 peers_n=250000 peer_n=16000 peer_m=800 square=4096 repeats=5
long=9600000 fine=40 grain=512 compare_n=65536
checked=${VSSGP_DEVICE_TESTS:-.}
sanitized=${VSSGP_DEVICE_SANITIZE:-^TestAsCPU\$/./^193|^TestAsCPU\$/./^257|^TestAsCPU\$/./^dense,_even|^TestDenseTiles\$|^TestTablesAsCPU\$|^TestDigitsExtremes\$}
fit=(fit "$dir/audio/second.wav" --window 32ms --iterations 20 --seed 1 --json --progress never)
if [ -n "$small" ]; then
	n=6000 m=64 wide=128 each=8 window=500 peers_n=2000 peer_n=500 peer_m=40 square=256 repeats=1
	long=3000 fine=8 grain=200 compare_n=2000
	checked=${VSSGP_DEVICE_TESTS:-Model|Timings}
	sanitized=${VSSGP_DEVICE_SANITIZE:-^TestTimings\$}
	fit+=(--components 4 --iterations 2)
fi
facts=name,driver_version,memory.total,compute_cap,clocks.sm,clocks.max.sm,clocks.mem,power.limit,mig.mode.current,ecc.mode.current
dense=(-n $n -features $m)
on=(-device "$device" -kernels)

stage devices 15 "$vssgp" devices --json || exit
needs facts nvidia-smi ", so clocks, power and the driver's version are unknown" &&
	stage facts 15 nvidia-smi -i "$card" --query-gpu=$facts --format=csv,noheader
if selected start; then
	speed start 60 -device "$device" -case "first start" -n 1000 -features 16
	speed start-again 20 -device "$device" -case "second start" -n 1000 -features 16
fi
if selected speed; then
	compare dense-compare -n $compare_n -features $m
	speed dense 30 "${on[@]}" "${dense[@]}"
	speed dense-direct 30 "${on[@]}" "${dense[@]}" -direct
	speed uneven 30 "${on[@]}" "${dense[@]}" -uneven
	speed small 20 "${on[@]}" -n $peer_n -features $peer_m
fi
if selected tests; then
	tests test-gpu 120 gpu "$checked"
	tests test-cuda 30 cuda '^TestDriver[^F]'
fi
if selected compare; then
	compare uneven-compare -n $compare_n -features $m -uneven
	compare windows-compare -n $compare_n -features $fine -window $grain
	compare direct-compare -n $compare_n -features $m -direct
	speed uneven-direct 30 "${on[@]}" "${dense[@]}" -uneven -direct
	speed digits-7 30 "${on[@]}" "${dense[@]}" -precision digits=7 -direct
	speed digits-3 30 "${on[@]}" "${dense[@]}" -precision digits=3 -direct
	speed dense-$wide 40 "${on[@]}" -n $n -features $wide
	speed dense-$wide-direct 40 "${on[@]}" -n $n -features $wide -direct
	speed factorized 30 "${on[@]}" -n $n -features $wide -inference factorised
	speed windows 30 "${on[@]}" -n $n -features $each -window $window
	speed recording 60 "${on[@]}" -n $long -features $fine -window $grain
	speed predict 30 "${on[@]}" -n $((n / 10)) -features $m -inference predict
fi
if selected rates && needs rates "$python"; then
	stage rates 60 env CUDA_VISIBLE_DEVICES="$card" "$python" "$dir/peers/speed.py" rates --device cuda \
		--size $square --rows $n --features $m
fi
if selected peers; then # bound and gradient are compared with ours first; ours is timed before and after
	for peer in torch jax; do
		speed peer-$peer 60 -device "$device" -n $peers_n -features $m -peers $peer -peer-time 40s -python "$python"
		speed peer-$peer-small 60 -device "$device" -n $peer_n -features $peer_m -peers $peer -peer-time 40s -python "$python"
	done
fi
if selected profile && needs ncu ncu; then
	kernels=${VSSGP_DEVICE_PROFILE:-$("$bench" report -slowest "$lines")}
	[ -n "$kernels" ] || skip ncu "no line has a kernel's time"
	for kernel in $kernels spectrum_gram; do # one launch of each; by default ncu would fix the clocks
		[[ $kernel = spectrum_* ]] && sums= || sums=-direct
		stage "ncu-$kernel" 30 ncu --clock-control none --kill yes --launch-count 1 --kernel-name "$kernel" --section SpeedOfLight \
			--section WarpStateStats --section ComputeWorkloadAnalysis --section Occupancy --csv \
			"$bench" speed -device "$device" -repeats 1 "${dense[@]}" $sums
	done
fi
if selected fit; then # the same fit on CPU and GPU must reach the same bound; few iterations, because rounding errors grow with them
	speed cpu 40 -device cpu -n $peer_n -features $peer_m
	speed cpu-dense 40 -device cpu "${dense[@]}"
	stage fit-cpu 60 "$vssgp" "${fit[@]}" --device cpu -o "$work/cpu.safetensors" &&
		stage fit-card 60 "$vssgp" "${fit[@]}" --device "$device" -o "$work/card.safetensors" &&
		stage fit-compare 10 cat "$run/fit-cpu.out" "$run/fit-card.out"
fi
if selected sanitize; then # faults and races that do not cause wrong numbers; last because of the intentional fault
	for tool in memcheck racecheck synccheck; do
		needs $tool compute-sanitizer && tests $tool 90 gpu "$sanitized" compute-sanitizer --tool $tool --error-exitcode 9
	done
	tests test-cuda-fault 30 cuda '^TestDriverFault$'
fi
