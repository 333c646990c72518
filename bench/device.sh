#!/usr/bin/env bash
# Tests and measures on a machine with a card, from what build.sh made:
#
#   device.sh DIR [RESULTS]
#
# Prints one table and writes RESULTS/device-DATE-CARD.json (RESULTS: DIR/results
# unless given). The exit status is 1 where any stage failed; a stage that fails
# or takes too long does not stop the others. Clocks, power and MIG are read and
# never set.
#
#   VSSGP_DEVICE_CARD=n        which card (0)
#   VSSGP_DEVICE_SECONDS=n     time for everything (540); stages after it are not begun
#   VSSGP_DEVICE_SMALL=1       small sizes, to try this script
#   VSSGP_DEVICE_PYTHON=path   Python for the peers (python3)
set -uo pipefail

[ $# -ge 1 ] && [ -x "$1/bin/bench" ] || { echo "usage: device.sh DIR [RESULTS], DIR made by build.sh" >&2; exit 2; }
dir=$(cd "$1" && pwd)
results=${2:-$dir/results}
mkdir -p "$results" && results=$(cd "$results" && pwd) || exit 2
card=${VSSGP_DEVICE_CARD:-0}
device=cuda:$card
python=${VSSGP_DEVICE_PYTHON:-python3}
deadline=$((SECONDS + ${VSSGP_DEVICE_SECONDS:-540}))
small=${VSSGP_DEVICE_SMALL:-}
commit=$(cat "$dir/commit")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
lines=$work/lines.jsonl
log=$results/device.log
: >"$lines"
: >"$log"
failed=0
driver=
peak=0

# left is how many seconds a stage may take that asks for $1.
left() {
	local l=$((deadline - SECONDS))
	[ "$l" -lt "$1" ] && echo "$l" || echo "$1"
}

# record NAME SECONDS STATUS
record() {
	printf '{"stage":"%s","seconds":%s,"status":"%s"}\n' "$1" "$2" "$3" >>"$lines"
	case $3 in ok | skipped*) ;; *) failed=1 ;; esac
	printf '%-28s %7s s  %s\n' "$1" "$2" "$3"
}

# stage NAME LIMIT COMMAND… runs a command and keeps what it prints in $work/NAME
# and in the log.
stage() {
	local name=$1 limit began rc status
	limit=$(left "$2")
	shift 2
	if [ "$limit" -lt 3 ]; then
		record "$name" 0 "no time left"
		return 1
	fi
	began=$(date +%s.%N)
	timeout -k 5 "$limit" "$@" >"$work/$name" 2>"$work/$name.err" </dev/null
	rc=$?
	case $rc in
	0) status=ok ;;
	124 | 137) status="time limit of $limit s" ;;
	*) status="exit $rc" ;;
	esac
	record "$name" "$(awk -v a="$began" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')" "$status"
	{
		echo "== $name: $* ($status)"
		tail -c 20000 "$work/$name"
		tail -c 4000 "$work/$name.err"
	} >>"$log"
	[ $rc -eq 0 ] || tail -n 3 "$work/$name.err" | cut -c1-300 | sed 's/^/    /'
	return $rc
}

# facts are the card's, as nvidia-smi has them.
facts() {
	local fields=name,driver_version,memory.total,compute_cap,clocks.sm,clocks.max.sm,clocks.mem,power.limit,mig.mode.current,ecc.mode.current
	local values json= i=0
	IFS=, read -r -a values < <(nvidia-smi -i "$card" --query-gpu=$fields --format=csv,noheader) || return 1
	[ ${#values[@]} -gt 1 ] || return 1
	for key in ${fields//,/ }; do
		json+="\"$key\":\"$(echo "${values[$i]:-}" | tr -d '"\\' | sed 's/^ *//; s/ *$//')\","
		i=$((i + 1))
	done
	echo "{\"facts\":{$json\"commit\":\"$commit\",\"machine\":\"$(uname -srm)\",\"cores\":\"$(nproc)\"}}"
}
export -f facts
export card commit

# in_test PACKAGE ARGUMENTS… runs a package's test program in its folder.
in_test() {
	local package=$1
	shift
	cd "$dir/test/$package" && VSSGP_REQUIRE_GPU=1 "$@"
}
export -f in_test
export dir

# tests PACKAGE LIMIT PATTERN: the package's tests of that name; none is a failure.
tests() {
	local t=./$1.test
	if ! (in_test "$1" "$t" -test.list "$3") 2>/dev/null | grep -q '^Test'; then
		record "test-$1" 0 "skipped: no test matches $3"
		return
	fi
	stage "test-$1" "$2" bash -c "in_test $1 $t -test.v -test.timeout 10m -test.run '$3'"
}

# speed LIMIT ARGUMENTS… is a row of the table.
row=0
speed() {
	local limit=$1
	shift
	row=$((row + 1))
	stage "speed-$row" "$limit" "$dir/bin/bench" speed -driver "$driver" -commit "$commit" -peak "$peak" -out "$lines" "$@"
}

# peers NAME LIMIT ARGUMENTS… has one line a peer.
peers() {
	stage "$1" "$2" "$python" "$dir/peers/speed.py" "${@:3}"
	grep '^{' "$work/$1" >>"$lines" 2>/dev/null
}

if stage facts 30 bash -c facts; then
	cat "$work/facts" >>"$lines"
	driver=$(sed -n 's/.*"driver_version":"\([^"]*\)".*/\1/p' "$work/facts")
fi
name=$(sed -n 's/.*"name":"\([^"]*\)".*/\1/p' "$work/facts" | tr -cs 'A-Za-z0-9\n' '-' | sed 's/-*$//')
stage devices 30 "$dir/bin/vssgp" devices --json

# Right before fast.
tests cuda 60 '.'
tests gpu 150 "${VSSGP_DEVICE_TESTS:-.}"
tests root 60 'GPU|Cuda|CUDA|Card'

# The same fit on the CPU and on the card ends at the same bound. The iterations
# are few: rounding grows along an optimisation.
fit=(fit "$dir/audio/second.wav" --window 32ms --iterations 20 --seed 1 --json --progress never)
[ -n "$small" ] && fit+=(--components 4 --iterations 2)
stage fit-cpu 90 "$dir/bin/vssgp" "${fit[@]}" --device cpu -o "$work/cpu.safetensors"
stage fit-cuda 60 "$dir/bin/vssgp" "${fit[@]}" --device "$device" -o "$work/cuda.safetensors"
stage fit-compare 10 "$dir/bin/bench" compare -tolerance 1e-6 "$work/fit-cpu" "$work/fit-cuda"

# Sizes: rows and features of the dense, factorised, windowed and peers' cases.
n=1000000 dense=1024 wide=4096 each=64 window=1024 peer_n=16000 peer_m=800 square=4096 repeats=5
long=9600000 fine=40 grain=512 most=96
[ -n "$small" ] && n=3000 dense=64 wide=128 each=8 window=500 long=3000 fine=8 grain=200 most=16 peer_n=500 peer_m=40 square=256 repeats=1

peers dgemm-cuda 60 dgemm --device cuda --size $square
peak=$(sed -n 's/.*"tflops": \([0-9.e+-]*\).*/\1/p' "$work/dgemm-cuda" 2>/dev/null | head -1)
peak=${peak:-0}
case_args=(-device "$device" -repeats $repeats)
speed 60 "${case_args[@]}" -n $n -features $dense -kernels
speed 60 "${case_args[@]}" -n $n -features $dense -uneven
speed 60 "${case_args[@]}" -n $n -features $wide -inference factorised
speed 60 "${case_args[@]}" -n $n -features $each -window $window
# The algebra of windows by kernels: ten minutes of audio as its model has them,
# and the largest windows.
speed 90 "${case_args[@]}" -n $long -features $fine -window $grain -kernels
speed 60 "${case_args[@]}" -n $n -features $each -window $window -kernels
speed 60 "${case_args[@]}" -n $n -features $most -window $window -kernels
speed 60 "${case_args[@]}" -n $((n / 10)) -features $dense -inference predict
speed 60 "${case_args[@]}" -n $peer_n -features $peer_m
speed 60 -device cpu -peak 0 -repeats $repeats -n $peer_n -features $peer_m

# Peers on the problems of two of those rows, bound and gradient compared first.
stage dump-peer 60 "$dir/bin/bench" speed -device "$device" -n $peer_n -features $peer_m -dump "$work/peer"
stage dump-dense 60 "$dir/bin/bench" speed -device "$device" -n $n -features $dense -dump "$work/dense"
peers peers-cpu 100 bound "$work/peer" --device cpu --repeats 3 --timeout 40
peers peers-cuda 60 bound "$work/peer" --device cuda --peer torch,jax --timeout 40
peers peers-dense 120 bound "$work/dense" --device cuda --peer torch,jax --repeats 3 --timeout 60

# Faults and races that no wrong number shows.
if [ -n "$small" ]; then
	record sanitizer 0 "skipped: small"
elif command -v compute-sanitizer >/dev/null; then
	for tool in memcheck racecheck; do
		stage "$tool" 90 bash -c "in_test gpu compute-sanitizer --tool $tool --error-exitcode 9 ./gpu.test -test.short -test.run '${VSSGP_DEVICE_SANITIZE:-.}'"
	done
else
	record sanitizer 0 "skipped: no compute-sanitizer"
fi

echo
"$dir/bin/bench" report -out "$results/device-$(date -u +%F)-${name:-unknown}.json" "$lines" || failed=1
exit $failed
