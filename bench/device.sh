#!/usr/bin/env bash
# Tests and measures on a machine with a GPU, with the files of build.sh:
#
#   device.sh DIR [RESULTS]
#
# Three files are left in RESULTS (DIR/results unless given). The first, with the ending jsonl, gets the lines of JSON of each
# stage when it ends. A run that is killed loses no more than one stage, and `bench report` makes the table of these lines. The
# others come at the end: device-DATE-CARD.json has all lines in one object, and device-DATE-TIME.tgz the output of each stage.
#
# A stage that fails or takes too long does not stop the others. `bench stage` decides from a command's output how it ended,
# and why it was skipped. The exit status is 1 if any stage failed. Clocks, power and MIG are read and never set.
#
#   VSSGP_DEVICE_STAGES=names    some of: start speed tests compare rates peers profile fit sanitize (all, in this order)
#   VSSGP_DEVICE_CARD=n          which card (0)
#   VSSGP_DEVICE_SECONDS=n       time for everything (540); stages after it are not begun
#   VSSGP_DEVICE_SMALL=1         small sizes, to try this script
#   VSSGP_DEVICE_PYTHON=path     Python for torch and jax (python3)
#   VSSGP_DEVICE_TESTS=regexp    tests of gpu.test
#   VSSGP_DEVICE_SANITIZE=regexp some of them, for compute-sanitizer
#   VSSGP_DEVICE_PROFILE=names   kernels for ncu (the two that take the most time)
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
deadline=$((SECONDS + ${VSSGP_DEVICE_SECONDS:-540} - 8)) # a stage may take 2 seconds to die, the table 1
small=${VSSGP_DEVICE_SMALL:-}
commit=$(cat "$dir/commit")
base=device-$(date -u +%F-%H%M%S)
lines=$results/$base.jsonl
echo "{\"facts\":{\"commit\":\"$commit\",\"machine\":\"$(uname -sm)\",\"cores\":\"$(nproc)\"}}" >>"$lines" || exit 2
echo "lines are kept in $lines"
work=$(mktemp -d) || exit 1
run=$work/$base
export CUDA_CACHE_PATH=$work/cache # so that the first start compiles, and no other does
mkdir -p "$run" "$CUDA_CACHE_PATH" || exit 1
failed=0
child= # the stage that runs

# finish makes the table of whatever lines are there, at the end or where a signal ends the script.
finish() {
	[ -z "$child" ] || { kill "$child"; failed=1; }
	tar -czf "$results/$base.tgz" -C "$work" "$base" || failed=1
	rm -rf "$work"
	echo
	"$bench" report -out "$results" "$lines" || failed=1
	exit $failed
}
trap finish EXIT

# selected GROUP: whether this group of stages was selected.
selected() { [[ " ${VSSGP_DEVICE_STAGES:-$1} " == *" $1 "* ]]; }

skip() { "$bench" stage -lines "$lines" -skip "$2" "$1" || failed=1; }

# needs STAGE PROGRAM [WHY] skips the stage where there is no such program.
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

# speed NAME LIMIT ARGUMENTS… is a row of the table, or with a peer two.
speed() { stage "$1" "$2" "$bench" speed -commit "$commit" -repeats $repeats -json "${@:3}"; }

# compare NAME ARGUMENTS… compares bound and gradient with the CPU's.
compare() { stage "$1" 40 "$bench" speed -device "$device" -check -repeats 1 "${@:2}"; }

# tests NAME LIMIT PACKAGE PATTERN [TOOL…] runs a package's test program in its folder, with a tool before it if one is given.
tests() { stage "$1" "$2" env -C "$dir/test/$3" VSSGP_REQUIRE_GPU=1 "${@:5}" "./$3.test" -test.v -test.run "$4"; }

# Sizes: rows and features of the cases.
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
if selected peers; then # which compare bound and gradient with ours first, and are timed between ours
	for peer in torch jax; do
		speed peer-$peer 60 -device "$device" -n $peers_n -features $m -peers $peer -peer-time 40s -python "$python"
		speed peer-$peer-small 60 -device "$device" -n $peer_n -features $peer_m -peers $peer -peer-time 40s -python "$python"
	done
fi
if selected profile && needs ncu ncu; then
	kernels=${VSSGP_DEVICE_PROFILE:-$("$bench" report -slowest "$lines")}
	[ -n "$kernels" ] || skip ncu "no line has a kernel's time"
	for kernel in $kernels spectrum_gram; do # one launch of each; ncu would fix the clocks
		[[ $kernel = spectrum_* ]] && sums= || sums=-direct
		stage "ncu-$kernel" 30 ncu --clock-control none --kill yes --launch-count 1 --kernel-name "$kernel" --section SpeedOfLight \
			--section WarpStateStats --section ComputeWorkloadAnalysis --section Occupancy --csv \
			"$bench" speed -device "$device" -repeats 1 "${dense[@]}" $sums
	done
fi
if selected fit; then # the CPU, and the same fit on both, which ends at the same bound: few iterations, because rounding grows along them
	speed cpu 40 -device cpu -n $peer_n -features $peer_m
	speed cpu-dense 40 -device cpu "${dense[@]}"
	stage fit-cpu 60 "$vssgp" "${fit[@]}" --device cpu -o "$work/cpu.safetensors" &&
		stage fit-card 60 "$vssgp" "${fit[@]}" --device "$device" -o "$work/card.safetensors" &&
		stage fit-compare 10 cat "$run/fit-cpu.out" "$run/fit-card.out"
fi
if selected sanitize; then # faults and races that no wrong number shows; last, with the fault on purpose
	for tool in memcheck racecheck synccheck; do
		needs $tool compute-sanitizer && tests $tool 90 gpu "$sanitized" compute-sanitizer --tool $tool --error-exitcode 9
	done
	tests test-cuda-fault 30 cuda '^TestDriverFault$'
fi
