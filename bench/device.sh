#!/usr/bin/env bash
# Runs tests and measurements on a machine with a GPU, with the files of build.sh:
#
#   device.sh DIR [RESULTS]
#
# Each stage is a command with a time limit. When it ends, device.sh appends a line of JSON to RESULTS/device-DATE-TIME.jsonl (default:
# DIR/results), with its status, seconds, card, driver and commit. The status is ok, or failed: or skipped: with the reason. Measurements
# append their own lines to the same file, so a killed run keeps what it had. `bench speed -show FILE` prints the table, and the folder
# device-DATE-TIME has the output of each stage. The exit status is 1 if a stage failed. Clocks, power and MIG are read and never set.
#
#   VSSGP_DEVICE_STAGES=names    groups: start mma speed tests compare inputs rates peers profile fit variants sanitize (default: all)
#   VSSGP_DEVICE_CARD=n          number of the GPU (default: 0)
#   VSSGP_DEVICE_SECONDS=n       total time (default: 540); later stages are skipped
#   VSSGP_DEVICE_SMALL=1         small sizes, to test this script
#   VSSGP_DEVICE_PYTHON=path     Python with torch and jax (default: python3)
#   VSSGP_DEVICE_TESTS=regexp    tests of gpu.test
#   VSSGP_DEVICE_SANITIZE=regexp tests of gpu.test for compute-sanitizer
#   VSSGP_DEVICE_PROFILE=names   kernels for ncu
set -uo pipefail
export LC_ALL=C

groups="start mma speed tests compare inputs rates peers profile fit variants sanitize"
[ $# -ge 1 ] && [ -x "$1/bin/bench" ] || { echo "usage: device.sh DIR [RESULTS], DIR made by build.sh" >&2; exit 2; }
for name in ${VSSGP_DEVICE_STAGES:=$groups}; do
	[[ " $groups " == *" $name "* ]] || { echo "device.sh: unknown group $name; must be $groups" >&2; exit 2; }
done
dir=$(cd "$1" && pwd)
results=${2:-$dir/results}
mkdir -p "$results" && results=$(cd "$results" && pwd) || exit 2
bench=$dir/bin/bench
vssgp=$dir/bin/vssgp
number=${VSSGP_DEVICE_CARD:-0}
device=cuda:$number
python=${VSSGP_DEVICE_PYTHON:-python3}
deadline=$((SECONDS + ${VSSGP_DEVICE_SECONDS:-540} - 5)) # a stage may take 2 seconds to terminate
small=${VSSGP_DEVICE_SMALL:-}
commit=$(cat "$dir/commit")
run=$results/device-$(date -u +%F-%H%M%S)
lines=$run.jsonl
export CUDA_CACHE_PATH=$run/cache # so that only the first start compiles the kernels
mkdir -p "$CUDA_CACHE_PATH" && : >>"$lines" || exit 2
failed=0 card=unknown driver=unknown

selected() { [[ " $VSSGP_DEVICE_STAGES " == *" $1 "* ]]; }

# quote TEXT prints a string of JSON.
quote() {
	local text=${1//\\/\\\\}
	printf '"%s"' "$(tr -d '\000-\037' <<<"${text//\"/\\\"}")"
}

# ended STAGE STATUS SECONDS stores and prints the result of a stage. It returns an error unless the status is ok.
ended() {
	printf '{"stage":%s,"status":%s,"seconds":%s,"card":%s,"driver":%s,"commit":%s}\n' "$(quote "$1")" "$(quote "$2")" "$3" \
		"$(quote "$card")" "$(quote "$driver")" "$(quote "$commit")" >>"$lines"
	printf '%-28s %7.1f s  %s\n' "$1" "$3" "$2"
	[[ $2 != failed* ]] || failed=1
	[ "$2" = ok ]
}

# stage NAME LIMIT COMMAND… runs a command. With the variable clean, the tools of compute-sanitizer must report it and nothing else: they
# also exit with 0 if they could not observe the program.
stage() {
	local name=$1 limit=$2 out=$run/$1.out began=$EPOCHREALTIME status=ok why rc
	shift 2
	[ $limit -le $((deadline - SECONDS)) ] || limit=$((deadline - SECONDS))
	[ $limit -ge 3 ] || { ended "$name" "skipped: no time left" 0; return; }
	timeout -k 2 "$limit" "$@" >"$out" 2>&1 </dev/null
	rc=$?
	case $rc in
	0) ;;
	124 | 137) status="failed: time limit of $limit s" ;;
	*) status="failed: exit $rc: $(grep -v '^[[:space:]]*$' "$out" | tail -n 1)" ;;
	esac
	if [ $rc = 0 ] && [ -n "${clean:-}" ]; then
		why=$(tr -d '\r' <"$out" | sed -nE 's/^=+ ((ERROR|RACECHECK) SUMMARY: .*)$/\1/p' | sort -u | paste -sd ';')
		[ "$why" = "$clean" ] || status="failed: summary \"$why\", must be \"$clean\""
	fi
	if why=$(grep -m 1 -E "$unsupported" "$out"); then status="skipped: $why"; fi
	ended "$name" "$status" "$(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $began }")"
}

# unsupported matches messages of programs that do not work on this machine, and of test programs without a matching test.
unsupported='ERR_NVGPUCTRPERM|Unable to find injection library|Device not supported|LibraryNotLoaded'
unsupported+='|no such emulated kernel|CUDA_ERROR_INVALID_PTX|CUDA_ERROR_NO_BINARY_FOR_GPU|warning: no tests to run|^\{"peer".*"status": ?"missing'

# needs STAGE PROGRAM skips the stage if the program is missing.
needs() { command -v "$2" >/dev/null || ended "$1" "skipped: no $2" 0; }

# speed NAME LIMIT ARGUMENTS… measures a row of the table, or two with a peer.
speed() { stage "$1" "$2" "$bench" speed -commit "$commit" -repeats $repeats -out "$lines" "${@:3}"; }

# compare NAME ARGUMENTS… compares bound and gradient with the CPU.
compare() { stage "$1" 40 "$bench" speed -device "$device" -check -repeats 1 "${@:2}"; }

# tests NAME LIMIT PACKAGE PATTERN [TOOL…] runs the test program of a package in its folder, under a tool if one is given.
tests() { stage "$1" "$2" env -C "$dir/test/$3" VSSGP_REQUIRE_GPU=1 "${@:5}" "./$3.test" -test.v -test.run "$4"; }

# Rows and features of the cases.
n=1000000 m=1024 wide=4096 each=64 window=1024 peers_n=250000 peer_n=16000 peer_m=800 square=4096 repeats=5
long=9600000 fine=40 grain=512 compare_n=65536 longest=10000000 laps=30
checked=${VSSGP_DEVICE_TESTS:-.}
sanitized=${VSSGP_DEVICE_SANITIZE:-^TestRowsMatchCPU\$/./^193|^TestRowsMatchCPU\$/./^257|^TestRowsMatchCPU\$/./^dense,_even|^TestLargeTilesMatchSmallTiles\$|^TestTablesMatchCPU\$|^TestPlanesMatchPlanesOfCPU\$}
fit=(fit "$dir/audio/second.wav" --iterations 20 --seed 1 --json --progress never)
windows=(--window 32ms) tables=(--method vssgp --window none --init spectrum --components 400)
if [ -n "$small" ]; then
	n=6000 m=64 wide=128 each=8 window=500 peers_n=2000 peer_n=500 peer_m=40 square=256 repeats=1
	long=3000 fine=8 grain=200 compare_n=2000 longest=9000 laps=3
	checked=${VSSGP_DEVICE_TESTS:-Model|Timings}
	sanitized=${VSSGP_DEVICE_SANITIZE:-^TestTimingsNameKernels\$}
	fit+=(--iterations 2)
	windows+=(--components 4) tables+=(--components 4)
fi
dense=(-n $n -features $m)
on=(-device "$device" -kernels)

timeout 15 "$vssgp" devices --json >"$run/devices.out" 2>&1 </dev/null
card=$(sed -nE "s/.*\"name\":\"$device\",\"available\":true[^}]*\"card\":\"([^\"]*)\".*/\1/p" "$run/devices.out")
[ -n "$card" ] || { ended devices "failed: no $device: $(tail -n 1 "$run/devices.out")" 0; exit 1; }
if needs facts nvidia-smi; then # clocks, power and the driver's version
	query=driver_version,name,memory.total,compute_cap,clocks.sm,clocks.max.sm,clocks.mem,power.limit,mig.mode.current,ecc.mode.current
	stage facts 15 nvidia-smi -i "$number" --query-gpu=$query --format=csv,noheader && driver=$(cut -d , -f 1 "$run/facts.out")
	echo "{\"facts\":$(quote "$(cat "$run/facts.out"), $(uname -sm), $(nproc) cores")}" >>"$lines"
fi
if selected start; then
	speed start 60 -device "$device" -case "first start" -n 1000 -features 16
	speed start-again 20 -device "$device" -case "second start" -n 1000 -features 16
	again=$(sed -nE 's/.*"second start".*"start_seconds":([^,]*),"first_seconds":([^,]*).*/\1 + \2/p' "$lines")
	awk "BEGIN { exit !(${again:-0} < 2) }" || ended start-cached "failed: opening and the first evaluation took $again s: the driver does not cache kernels" 0
fi
if selected mma; then # which product instructions and how many warps the tiles should use
	if [ -f "$dir/images/mma.ptx" ]; then
		stage mma 20 "$bench" mma -device "$device" -image "$dir/images/mma.ptx" -commit "$commit" -out "$lines"
	else
		ended mma "skipped: build.sh found no nvcc" 0
	fi
fi
if selected speed; then
	compare dense-compare -n $compare_n -features $m
	speed dense 30 "${on[@]}" "${dense[@]}"
	speed dense-direct 30 "${on[@]}" "${dense[@]}" -direct
	speed uneven 30 "${on[@]}" "${dense[@]}" -uneven
	speed uneven-short 30 "${on[@]}" "${dense[@]}" -uneven -fitted -short 0.1
	speed long 40 "${on[@]}" -n $longest -features $m
	speed small 20 "${on[@]}" -n $peer_n -features $peer_m
	speed small-direct 20 "${on[@]}" -n $peer_n -features $peer_m -direct
	compare plane-compare -n $n -features $m -inputs 2
	speed plane 30 "${on[@]}" "${dense[@]}" -inputs 2
	speed plane-uneven 30 "${on[@]}" "${dense[@]}" -inputs 2 -uneven
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
	speed dense-$wide 40 "${on[@]}" -n $n -features $wide
	speed dense-$wide-direct 40 "${on[@]}" -n $n -features $wide -direct
	speed factorized 30 "${on[@]}" -n $n -features $wide -inference factorized
	speed windows 30 "${on[@]}" -n $n -features $each -window $window
	speed recording 60 "${on[@]}" -n $long -features $fine -window $grain
	speed predict 30 "${on[@]}" -n $((n / 10)) -features $m -inference predict
fi
if selected inputs; then # passes over the rows, alternating with libraries that compute the same
	for q in 2 8; do
		compare inputs-$q-compare -n $((compare_n / 4)) -features $m -inputs $q -direct
		speed inputs-$q 30 "${on[@]}" -n $peers_n -features $m -inputs $q -direct
		speed inputs-$q-small 20 "${on[@]}" -n $peer_n -features $peer_m -inputs $q -direct
		for peer in torch jax; do
			speed inputs-$q-$peer 60 -case "exact Q=$q, with $peer" -device "$device" -n $peers_n -features $m -inputs $q -direct -peers $peer -peer-time 40s -python "$python"
		done
	done
fi
if selected rates && needs rates "$python"; then
	stage rates 60 env CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-$number}" "$python" "$dir/peers/speed.py" rates --device cuda \
		--size $square --rows $n --features $m
	grep '^{"peer"' "$run/rates.out" >>"$lines"
fi
if selected peers; then # bound and gradient are compared with ours first; ours is timed before and after
	for peer in torch jax; do
		speed peer-$peer 60 -device "$device" -n $peers_n -features $m -peers $peer -peer-time 40s -python "$python"
		speed peer-$peer-small 60 -device "$device" -n $peer_n -features $peer_m -peers $peer -peer-time 40s -python "$python"
	done
fi
if selected profile && needs ncu ncu; then
	for kernel in ${VSSGP_DEVICE_PROFILE:-spectrum_gram plane_gram spectrum_pullback dense_panel moments_gram_128 pullback_128 moments_gram_reduce}; do # one launch; by default ncu would fix the clocks
		case $kernel in
		plane_*) sums="-inputs 2" ;;
		spectrum_* | dense_*) sums= ;;
		*) sums=-direct ;;
		esac
		stage "ncu-$kernel" 30 ncu --clock-control none --kill yes --launch-count 1 --kernel-name "$kernel" --section SpeedOfLight \
			--section WarpStateStats --section SchedulerStats --section MemoryWorkloadAnalysis --section Occupancy --csv \
			"$bench" speed -device "$device" -repeats 1 "${dense[@]}" $sums || continue
		# ncu's CSV has the names of the columns in its first line, and every field in quotes.
		metrics=$(awk -F'","' '/"Metric Name"/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
			at["Metric Name"] && $at["Metric Value"] != "" && $at["Metric Name"] != "" {
				printf "%s\"%s [%s]\":\"%s\"", n++ ? "," : "", $at["Metric Name"], $at["Metric Unit"], $at["Metric Value"] }' "$run/ncu-$kernel.out")
		[ -n "$metrics" ] || { ended "ncu-$kernel" "failed: no metrics" 0; continue; }
		echo "{\"profile\":\"$kernel\",\"metrics\":{$metrics}}" >>"$lines"
	done
fi
# fit NAME ARGUMENTS… runs the same fit on CPU and GPU, which must reach the same bound; with few iterations, because rounding errors grow
# with them.
fit() {
	local name=$1 bounds seconds
	stage "$name-cpu" 60 "$vssgp" "${fit[@]}" "${@:2}" --device cpu -o "$run/cpu.safetensors" &&
		stage "$name-card" 60 "$vssgp" "${fit[@]}" "${@:2}" --device "$device" -o "$run/card.safetensors" || return
	bounds=$(sed -nE 's/^\{"bound":([^,]*).*/\1/p' "$run/$name-cpu.out" "$run/$name-card.out" | paste -sd ' ')
	seconds=$(sed -nE 's/.*"seconds":([^,]*).*/\1/p' "$run/$name-cpu.out" "$run/$name-card.out" | paste -sd ' ')
	echo "{\"fit\":\"$name\",\"seconds_cpu_card\":\"$seconds\"}" >>"$lines"
	stage "$name-compare" 10 awk -v bounds="$bounds" 'BEGIN { n = split(bounds, b, " "); off = b[1] - b[2]; size = b[1] < 0 ? -b[1] : b[1]
		print "bounds of", bounds ": must be equal to 1e-6"
		exit !(n == 2 && size > 0 && off <= 1e-6*size && -off <= 1e-6*size) }'
}
if selected fit; then
	speed cpu 40 -device cpu -n $peer_n -features $peer_m
	speed cpu-dense 40 -device cpu "${dense[@]}"
	fit fit-windows "${windows[@]}"
	fit fit-tables "${tables[@]}"
	speed recording-fit 90 -device "$device" -n $long -features $fine -window $grain -fit $laps # with the optimizer on the host
fi
if selected variants; then # kernels that build.sh compiled with other constants, the usual ones first and last
	speed base 30 "${on[@]}" "${dense[@]}" -direct -case base
	for image in "$dir"/images/kernels-*.ptx; do
		[ -f "$image" ] || { ended variants "skipped: build.sh found no nvcc" 0; break; }
		name=$(basename "$image" .ptx)
		compare "$name-compare" -n $((compare_n / 4)) -features $m -direct -image "$image"
		speed "$name" 30 "${on[@]}" "${dense[@]}" -direct -image "$image" -case "$name"
	done
	speed base-again 30 "${on[@]}" "${dense[@]}" -direct -case "base again"
fi
if selected sanitize; then # faults and races that do not cause wrong numbers; last because of the intentional fault
	for tool in memcheck racecheck synccheck; do
		clean="ERROR SUMMARY: 0 errors"
		[ $tool != racecheck ] || clean="RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
		needs $tool compute-sanitizer && tests $tool 90 gpu "$sanitized" compute-sanitizer --tool $tool --error-exitcode 9
	done
	clean=
	tests test-cuda-fault 30 cuda '^TestDriverFault$'
fi

echo
"$bench" speed -show "$lines" | sed '1,/^$/d'
rm -rf "$CUDA_CACHE_PATH" "$run"/*.safetensors
echo "to commit as bench/results/device-$(date -u +%F)-${card//[^A-Za-z0-9]/-}.jsonl: $lines"
exit $failed
