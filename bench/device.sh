#!/usr/bin/env bash
# Tests and measures on a machine with a card, from what build.sh made:
#
#   device.sh DIR [RESULTS]
#
# Three files are left in RESULTS (DIR/results unless given). The first, with the
# ending jsonl, has a line of JSON for each result, at once: a run that is killed
# loses no more than the stage that it was at, and `bench report` makes the table of
# these lines. The others come at the end: device-DATE-CARD.json has all lines in one
# object, and device-DATE-TIME.tgz has the output of each stage.
#
# A stage that fails or takes too long does not stop the others. One that cannot
# run says why. The exit status is 1 where any stage failed. Clocks, power and
# MIG are read and never set.
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
dir=$(cd "$1" && pwd)
results=${2:-$dir/results}
mkdir -p "$results" && results=$(cd "$results" && pwd) || exit 2
card=${VSSGP_DEVICE_CARD:-0}
device=cuda:$card
python=${VSSGP_DEVICE_PYTHON:-python3}
deadline=$((SECONDS + ${VSSGP_DEVICE_SECONDS:-540} - 8)) # a stage may take 2 seconds to die, the table 1
small=${VSSGP_DEVICE_SMALL:-}
commit=$(cat "$dir/commit")
name=device-$(date -u +%F-%H%M%S)
lines=$results/$name.jsonl
: >>"$lines" || exit 2
echo "lines are kept in $lines"
work=$(mktemp -d) || exit 1
run=$work/$name
export CUDA_CACHE_PATH=$work/cache # so that the first start compiles, and no other does
mkdir -p "$run" "$CUDA_CACHE_PATH" || exit 1
failed=0
driver=
card_name=unknown
child= # the stage that runs

# finish makes the table of whatever lines are there, at the end or where a signal
# ends the script.
finish() {
	local out
	if [ -n "$child" ]; then
		kill "$child"
		failed=1
	fi
	out=device-$(date -u +%F)-$card_name.json
	tar -czf "$results/$name.tgz" -C "$work" "$name" || failed=1
	rm -rf "$work"
	echo
	if "$dir/bin/bench" report -out "$results/$out" "$lines"; then
		echo
		echo "to commit as bench/results/$out: $results/$out"
	else
		failed=1
	fi
	exit $failed
}
trap finish EXIT

# wants GROUP: whether this group of stages was asked for.
wants() { [[ " ${VSSGP_DEVICE_STAGES:-$1} " == *" $1 "* ]]; }

# text makes a line of JSON's text of what it reads.
text() { tr '\n\t' '  ' | tr -d '"\\\000-\037'; }

# record NAME SECONDS STATUS [WHAT IT SAID]
record() {
	printf '{"stage":"%s","seconds":%s,"status":"%s","said":"%s"}\n' \
		"$1" "$2" "$(printf %s "$3" | text)" "$(printf %s "${4:-}" | tail -c 400 | text)" >>"$lines"
	case $3 in ok | skipped*) ;; *) failed=1 ;; esac
	printf '%-28s %7s s  %s\n' "$1" "$2" "$3"
}

# lacking says what a stage found missing on this machine; nothing where it could
# do its work.
lacking() {
	if grep -qs ERR_NVGPUCTRPERM "$run/$1.out" "$run/$1.err"; then
		echo "the driver keeps its counters from this user (ERR_NVGPUCTRPERM)"
	elif grep -qsE 'Unable to find injection library|Device not supported|LibraryNotLoaded' "$run/$1.out" "$run/$1.err"; then
		echo "NVIDIA's tool does not work on this machine"
	elif ! grep -qsv '"status": "missing: ' "$run/$1.out"; then # every line is a peer's that is not there
		sed -n 's/.*"status": "\(missing: [^"]*\)".*/\1/p' "$run/$1.out" | head -n 1
	fi
}

# stage NAME LIMIT COMMAND… runs a command and keeps what it prints.
stage() {
	local name=$1 limit=$2 began rc status said= why
	shift 2
	[ $limit -le $((deadline - SECONDS)) ] || limit=$((deadline - SECONDS))
	if [ $limit -lt 3 ]; then
		record "$name" 0 "skipped: no time left for it"
		return 1
	fi
	began=$(date +%s.%N)
	timeout -k 2 "$limit" "$@" >"$run/$name.out" 2>"$run/$name.err" </dev/null &
	child=$!
	wait "$child"
	rc=$?
	child=
	case $rc in
	0) status=ok ;;
	124 | 137) status="time limit of $limit s" ;;
	*) status="exit $rc" ;;
	esac
	[ $rc -eq 0 ] || said=$(tail -n 30 "$run/$name.out" "$run/$name.err" | grep -v '^$' | tail -n 5)
	why=$(lacking "$name")
	[ -z "$why" ] || status="skipped: $why" said=
	record "$name" "$(awk -v a="$began" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')" "$status" "$said"
	[ -z "$said" ] || cut -c1-300 <<<"$said" | sed 's/^/    /'
	return $rc
}

# query asks nvidia-smi for some facts and prints them as JSON's fields.
query() {
	local fields=name,driver_version,memory.total,compute_cap,clocks.sm,clocks.max.sm,clocks.mem,power.limit,mig.mode.current,ecc.mode.current
	local values i=0 key
	IFS=, read -r -a values < <(nvidia-smi -i "$card" --query-gpu=$fields --format=csv,noheader)
	[ ${#values[@]} -gt 1 ] || return 1
	for key in ${fields//,/ }; do
		printf '"%s":"%s",' "$key" "$(text <<<"${values[$i]:-}" | sed 's/^ *//; s/ *$//')"
		i=$((i + 1))
	done
}
export -f query text
export card

# facts are the card's, as nvidia-smi has them, or as the driver has its name.
facts() {
	local known=
	stage devices 15 "$dir/bin/vssgp" devices --json
	if ! command -v nvidia-smi >/dev/null; then
		record facts 0 "skipped: no nvidia-smi, so clocks, power and the driver's version are unknown"
	elif stage facts 15 bash -c query; then
		known=$(cat "$run/facts.out")
	fi
	if [ -z "$known" ]; then
		known=$(grep -o "\"name\":\"$device\"[^}]*" "$run/devices.out" | sed -n 's/.*"card":"\([^"]*\)".*/"name":"\1",/p')
	fi
	echo "{\"facts\":{$known\"commit\":\"$commit\",\"machine\":\"$(uname -sm)\",\"cores\":\"$(nproc)\"}}" >>"$lines"
	driver=$(sed -n 's/.*"driver_version":"\([^"]*\)".*/\1/p' <<<"$known")
	card_name=$(sed -n 's/.*"name":"\([^"]*\)".*/\1/p' <<<"$known" | tr -cs 'A-Za-z0-9\n' '-' | sed 's/-*$//')
	card_name=${card_name:-unknown}
}

# in_test PACKAGE ARGUMENTS… runs a package's test program in its folder.
in_test() {
	local package=$1
	shift
	cd "$dir/test/$package" && VSSGP_REQUIRE_GPU=1 "$@"
}
export -f in_test
export dir

# listed PACKAGE PATTERN: whether the package has tests of that name. Subtests are not listed.
listed() { [ -n "$(in_test "$1" "./$1.test" -test.list "$(sed 's,/[^|]*,,g' <<<"$2")" 2>/dev/null | grep '^Test')" ]; }

# tests PACKAGE LIMIT PATTERN [SUFFIX of the stage's name]
tests() {
	if ! listed "$1" "$3"; then
		record "test-$1" 0 "skipped: no test matches $3"
		return
	fi
	stage "test-$1${4:-}" "$2" bash -c "in_test $1 ./$1.test -test.v -test.run '$3'"
}

# sanitize TOOL: faults and races that no wrong number shows.
sanitize() {
	if ! command -v compute-sanitizer >/dev/null; then
		record "$1" 0 "skipped: no compute-sanitizer"
	elif ! listed gpu "$sanitized"; then
		record "$1" 0 "skipped: no test matches $sanitized"
	else
		stage "$1" 90 bash -c "in_test gpu compute-sanitizer --tool $1 --error-exitcode 9 ./gpu.test -test.v -test.run '$sanitized'"
	fi
}

# speed NAME LIMIT ARGUMENTS… is a row of the table, or with a peer two.
speed() {
	stage "$1" "$2" "$dir/bin/bench" speed -driver "$driver" -commit "$commit" -repeats $repeats -out "$lines" "${@:3}" || return
	sed -n '2,/^$/{/./p}' "$run/$1.out"
}

# cached fails where the second start, which finds the driver's compiled kernels, takes 2 s or more.
cached() {
	local took
	took=$(sed -n 's/.*"case":"second start".*"start_seconds":\([0-9.e-]*\).*/\1/p' "$lines")
	awk -v s="${took:-9}" 'BEGIN { exit !(s < 2) }' || record cache 0 "failed: the second start took ${took:-no} s: the driver does not keep what it compiles"
}

# compare NAME ARGUMENTS… compares bound and gradient with the CPU's.
compare() { stage "$1" 40 "$dir/bin/bench" speed -device "$device" -check -repeats 1 "${@:2}"; }

# same_bound A B: the bounds in two outputs of `vssgp fit --json` agree to 1e-6.
same_bound() {
	sed -n 's/.*"bound":\([^,}]*\).*/\1/p' "$@" | awk '
		{ print; bound[NR] = $1 }
		END {
			difference = bound[1] - bound[2]
			exit !(NR == 2 && bound[1] * bound[2] > 0 && difference^2 <= (1e-6 * bound[1])^2)
		}'
}
export -f same_bound

# slowest are the two kernels that take the most time in the first line that has
# kernels.
slowest() {
	grep -o '"kernel_seconds":{[^}]*}' "$lines" | head -n 1 | grep -oE '"[a-z0-9_]+":[0-9.e+-]+' | tr -d '"' |
		sort -t : -k 2,2gr | head -n 2 | cut -d : -f 1
}

# profile KERNEL: one launch under ncu, its metrics as a line. ncu would fix the
# clocks.
profile() {
	stage "ncu-$1" 30 ncu --clock-control none --kill yes --launch-count 1 --kernel-name "$1" --section SpeedOfLight --section WarpStateStats \
		--section ComputeWorkloadAnalysis --section Occupancy --csv "$dir/bin/bench" speed -device "$device" -repeats 1 "${dense[@]}" || return
	awk -v kernel="$1" '
		{ gsub(/\\/, ""); sub(/^"/, ""); sub(/"\r?$/, ""); n = split($0, field, /","/) }
		/Metric Name/ { for (i = 1; i <= n; i++) at[field[i]] = i; next }
		at["Metric Value"] && n >= at["Metric Value"] && field[at["Metric Name"]] {
			gsub(/"/, "", field[at["Metric Value"]])
			all = all (all ? "," : "") sprintf("\"%s [%s]\":\"%s\"", field[at["Metric Name"]], field[at["Metric Unit"]], field[at["Metric Value"]])
		}
		END { if (all) printf "{\"profile\":\"%s\",\"metrics\":{%s}}\n", kernel, all }' "$run/ncu-$1.out" >>"$lines"
}

# Sizes: rows and features of the cases.
n=1000000 m=1024 wide=4096 each=64 window=1024 peers_n=250000 peer_n=16000 peer_m=800 square=4096 repeats=5
long=9600000 fine=40 grain=512 compare_n=65536
checked=${VSSGP_DEVICE_TESTS:-.}
sanitized=${VSSGP_DEVICE_SANITIZE:-^TestAsCPU\$/./^193|^TestAsCPU\$/./^257|^TestAsCPU\$/./^dense,_even|^TestDenseTiles\$|^TestDigitsExtremes\$}
if [ -n "$small" ]; then
	n=3000 m=64 wide=128 each=8 window=500 peers_n=2000 peer_n=500 peer_m=40 square=256 repeats=1
	long=3000 fine=8 grain=200 compare_n=2000
	checked=${VSSGP_DEVICE_TESTS:-Model|Timings}
	sanitized=${VSSGP_DEVICE_SANITIZE:-^TestTimings\$}
fi
dense=(-n $n -features $m)
on=(-device "$device" -kernels)

facts
if wants start; then
	speed start 60 -device "$device" -case "first start" -n 1000 -features 16
	speed start-again 20 -device "$device" -case "second start" -n 1000 -features 16 && cached
fi
if wants speed; then
	compare dense-compare -n $compare_n -features $m
	speed dense 30 "${on[@]}" "${dense[@]}"
	speed uneven 30 "${on[@]}" "${dense[@]}" -uneven
	speed small 20 "${on[@]}" -n $peer_n -features $peer_m
fi
if wants tests; then
	tests gpu 120 "$checked"
	tests cuda 30 '^TestDriver[^F]'
fi
if wants compare; then
	compare uneven-compare -n $compare_n -features $m -uneven
	compare windows-compare -n $compare_n -features $fine -window $grain
	speed digits-7 30 "${on[@]}" "${dense[@]}" -precision digits=7
	speed digits-3 30 "${on[@]}" "${dense[@]}" -precision digits=3
	speed dense-$wide 40 "${on[@]}" -n $n -features $wide
	speed factorised 30 "${on[@]}" -n $n -features $wide -inference factorised
	speed windows 30 "${on[@]}" -n $n -features $each -window $window
	speed recording 60 "${on[@]}" -n $long -features $fine -window $grain
	speed predict 30 "${on[@]}" -n $((n / 10)) -features $m -inference predict
fi
if wants rates; then
	if ! command -v "$python" >/dev/null; then
		record rates 0 "skipped: no $python"
	else
		stage rates 60 env CUDA_VISIBLE_DEVICES="$card" "$python" "$dir/peers/speed.py" rates --device cuda \
			--size $square --rows $n --features $m --out "$lines"
	fi
fi
if wants peers; then # which compare bound and gradient with ours first, and are timed between ours
	for peer in torch jax; do
		speed peer-$peer 60 -device "$device" -n $peers_n -features $m -peers $peer -peer-time 40s -python "$python"
		speed peer-$peer-small 60 -device "$device" -n $peer_n -features $peer_m -peers $peer -peer-time 40s -python "$python"
	done
fi
if wants profile; then
	kernels=${VSSGP_DEVICE_PROFILE:-$(slowest)}
	if ! command -v ncu >/dev/null; then
		record ncu 0 "skipped: no ncu"
	elif [ -z "$kernels" ]; then
		record ncu 0 "skipped: no line has a kernel's time"
	else
		for kernel in $kernels; do
			profile "$kernel"
		done
	fi
fi
if wants fit; then # the CPU, and the same fit on both, which ends at the same bound: few iterations, because rounding grows along them
	speed cpu 40 -device cpu -n $peer_n -features $peer_m
	speed cpu-dense 40 -device cpu "${dense[@]}"
	fit=(fit "$dir/audio/second.wav" --window 32ms --iterations 20 --seed 1 --json --progress never)
	[ -n "$small" ] && fit+=(--components 4 --iterations 2)
	stage fit-cpu 60 "$dir/bin/vssgp" "${fit[@]}" --device cpu -o "$work/cpu.safetensors" &&
		stage fit-card 60 "$dir/bin/vssgp" "${fit[@]}" --device "$device" -o "$work/card.safetensors" &&
		stage fit-compare 10 bash -c 'same_bound "$@"' same_bound "$run/fit-cpu.out" "$run/fit-card.out"
fi
if wants sanitize; then # last, with the fault on purpose
	for tool in memcheck racecheck synccheck; do
		sanitize $tool
	done
	tests cuda 30 '^TestDriverFault$' -fault
fi
