#!/bin/sh
# Builds, vets and tests with -tags cuda against the CUDA headers in a folder.
# It needs no CUDA compiler, driver or GPU.
#
#	cuda/check.sh INCLUDE_FOLDER [PACKAGE...]      default package: ./cuda
#
# It also checks that the test program is not linked with the driver, because such
# a program would not start on a machine without a driver.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || { echo "usage: $0 INCLUDE_FOLDER [PACKAGE...]" >&2; exit 2; }
include=$1
shift
[ -f "$include/cuda.h" ] || { echo "$0: $include has no cuda.h" >&2; exit 1; }
include=$(cd "$include" && pwd)
[ $# -gt 0 ] || set -- ./cuda
cd "$here/.."

export CGO_ENABLED=1
export CGO_CFLAGS="-I$here/compat -I$include"
export CGO_LDFLAGS="-L$here/compat"
awk '$2 == "CUDA_VERSION" { print "cuda.h is of CUDA " int($3 / 1000) "." int($3 % 1000 / 10); exit }' "$include/cuda.h"
go build -tags cuda "$@"
go vet -tags cuda "$@"
go test -tags cuda "$@"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go test -c -tags cuda -o "$work/cuda.test" ./cuda
if readelf -d "$work/cuda.test" | grep NEEDED | grep -q libcuda; then
	echo "$0: the test program is linked with the CUDA driver; it must load the driver at run time" >&2
	exit 1
fi
