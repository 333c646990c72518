#!/usr/bin/env bash
# Builds the files for tests and measurements on a machine with a GPU and without Go:
#
#   bench/build.sh DIR [TAGS]
#
# TAGS is cuda (default) or cudaemu, which allows running device.sh without a GPU.
# The script writes to DIR the file device.sh and
#
#   bin/                vssgp and bench
#   test/cuda, test/gpu the test programs of the packages, with their testdata
#   test/testdata       the files that the tests of gpu read from the parent folder
#   images/             the kernels of bench mma, and variants of the tiles' kernels: kernels-k8 has
#                       VSSGP_MMA_K=8 (kernels/tile.cuh); only if nvcc is in PATH
#   audio/second.wav    the second of testdata/speech.wav that is fitted
#   peers/              speed.py and its dependencies
#   commit              the commit of the sources, with + if files differ from it
#
# DIR.tgz contains the whole folder.
#
# With TAGS cuda the script needs the header cuda.h of CUDA 11, 12 or 13 (see
# docs/cuda.md) in a folder in CGO_CFLAGS, in /usr/local/cuda/include or in
# /usr/include. It does not need a driver or a GPU. The programs are built for the
# operating system and processor of this machine. They are linked only with the C
# library. The driver's library is loaded when they run.
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: bench/build.sh DIR [TAGS]" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
tags=${2:-cuda}
[[ $tags == cuda || $tags == cudaemu ]] || { echo "bench/build.sh: build tag $tags: must be cuda or cudaemu" >&2; exit 2; }
cd "$(dirname "$0")/.."

export CGO_ENABLED=1
flags=(-tags "$tags" -ldflags "-s -w")
if [ "$tags" = cuda ]; then # an emulated build uses the objects of go test -tags cudaemu
	# cuda/compat comes first: it includes the toolkit's header and replaces the driver's library.
	export CGO_CFLAGS="-I$PWD/cuda/compat ${CGO_CFLAGS:--O2} -I/usr/local/cuda/include" CGO_LDFLAGS="-L$PWD/cuda/compat ${CGO_LDFLAGS:-}"
	$(go env CC) $CGO_CFLAGS -E -include cuda.h - </dev/null >/dev/null || {
		echo "bench/build.sh: no cuda.h in the folders of CGO_CFLAGS and in /usr/include; see docs/cuda.md" >&2
		exit 1
	}
	flags+=(-trimpath)
fi

rm -rf "$dir/bin" "$dir/test" "$dir/audio" "$dir/peers" "$dir/images"
mkdir -p "$dir/bin" "$dir/test/testdata" "$dir/audio" "$dir/peers"

go build "${flags[@]}" -o "$dir/bin/" ./cmd/vssgp ./bench

# A test program runs in the folder of its package, which contains testdata.
for package in cuda gpu; do
	mkdir -p "$dir/test/$package"
	go test -c "${flags[@]}" -o "$dir/test/$package/$package.test" "./$package"
	[ ! -d "$package/testdata" ] || cp -r "$package/testdata" "$dir/test/$package/"
done
cp -r testdata/golden "$dir/test/testdata/"

# Variants of kernels, to be measured on the GPU. The flags are those of go generate ./kernels.
if command -v nvcc >/dev/null; then
	mkdir -p "$dir/images"
	variant() { nvcc -ptx -std=c++17 -O3 --fmad=false -arch=compute_90 -DVSSGP_ARCH=900 "$@"; }
	variant bench/internal/mma/mma.cu -o "$dir/images/mma.ptx"
	printf '#include "%s.cu"\n' moments pullback >"$dir/images/tiles.cu"
	variant -Ikernels -DVSSGP_MMA_K=8 "$dir/images/tiles.cu" -o "$dir/images/kernels-k8.ptx"
	rm "$dir/images/tiles.cu"
else
	echo "bench/build.sh: no nvcc in PATH: device.sh will skip mma and variants" >&2
fi

# One second, starting at half a second: 16 bits, mono, 16 kHz, a header of 44 bytes.
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
tar -czf "$dir.tgz" -C "$(dirname "$dir")" "$(basename "$dir")"
du -sh "$dir" "$dir.tgz"
