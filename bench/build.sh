#!/usr/bin/env bash
# Builds what a machine with a card but without Go needs to test and measure:
#
#   bench/build.sh DIR [TAGS]
#
# TAGS is cuda unless given; cudaemu tries device.sh where there is no card. DIR
# then holds device.sh and
#
#   bin/                vssgp and bench
#   test/PACKAGE/       the package's test program, beside its testdata
#   audio/second.wav    the second of testdata/speech.wav that is fitted
#   peers/              speed.py and what it needs
#   commit              of the sources, with + where files differ from it
#
# The programs are for this machine's system and processor. They link the C
# library alone; the driver's is looked for when they run.
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: bench/build.sh DIR [TAGS]" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
tags=${2:-cuda}
cd "$(dirname "$0")/.."

# cuda/compat stands for the driver's header and library, which need not be here.
export CGO_ENABLED=1 CGO_CFLAGS="-O2 -I$PWD/cuda/compat" CGO_LDFLAGS="-L$PWD/cuda/compat"
flags=(-tags "$tags" -trimpath -ldflags "-s -w")

rm -rf "$dir/bin" "$dir/test" "$dir/audio" "$dir/peers"
mkdir -p "$dir/bin" "$dir/test" "$dir/audio" "$dir/peers"

go build "${flags[@]}" -o "$dir/bin/" ./cmd/vssgp ./bench

# A test program runs in its package's folder and finds testdata there.
for package in . cuda gpu; do
	name=$package
	[ "$package" = . ] && name=root
	mkdir -p "$dir/test/$name"
	go test -c "${flags[@]}" -o "$dir/test/$name/$name.test" "./$package"
	[ -d "$package/testdata" ] && cp -r "$package/testdata" "$dir/test/$name/"
done
mkdir "$dir/test/testdata" && cp -r testdata/golden "$dir/test/testdata/" # gpu's tests look there

# One second from half a second on: 16 bits, mono, 16 kHz, a header of 44 bytes.
wav=testdata/speech.wav
{
	printf 'RIFF\x24\x7d\x00\x00'
	head -c 40 "$wav" | tail -c 32
	printf '\x00\x7d\x00\x00'
	head -c $((44 + 2 * (8000 + 16000))) "$wav" | tail -c 32000
} >"$dir/audio/second.wav"

cp bench/peers/{speed,peer}.py bench/peers/requirements.txt "$dir/peers/"
cp bench/device.sh "$dir/"
commit=$(git rev-parse HEAD)
git diff --quiet HEAD -- || commit=$commit+
echo "$commit" >"$dir/commit"
du -sh "$dir"
