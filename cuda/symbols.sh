#!/bin/sh
# Writes symbols.h, a list of the driver functions that gorgonia.org/cu calls or
# library_cu.h and library_cu.c declare. The headers of CUDA map some functions to
# versioned names that differ between major versions, so pass an include folder of
# each version:
#
#	cuda/symbols.sh /usr/local/cuda-11/include /usr/local/cuda-12/include /usr/local/cuda-13/include
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || { echo "usage: $0 INCLUDE_FOLDER..." >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^int \(cu[A-Z][A-Za-z0-9_]*\)(.*/\1/p' "$here/library_cu.h" "$here/library_cu.c" > "$work/names"
for include; do
	[ -f "$include/cuda.h" ] || { echo "$0: $include has no cuda.h" >&2; exit 1; }
	archive=$(cd "$here" && CGO_ENABLED=1 CGO_CFLAGS="-I$here/compat -I$include" CGO_LDFLAGS="-L$here/compat" \
		go list -tags cuda -export -f '{{.Export}}' gorgonia.org/cu)
	rm -rf "$work/objects"
	mkdir "$work/objects"
	# Functions that an object file of cu defines are not driver functions.
	(cd "$work/objects" && go tool pack x "$archive" && nm -- *.o 2>/dev/null || true) |
		awk '$1 == "U" && $2 ~ /^cu[A-Z]/ { wanted[$2] = 1 }
			$2 == "T" { has[$3] = 1 }
			END { for (name in wanted) if (!(name in has)) print name }' >> "$work/names"
done
{
	echo '/* Made by symbols.sh; do not edit. */'
	LC_ALL=C sort -u "$work/names" | grep -vx cuInit | sed 's/.*/SYMBOL(&)/'
} > "$work/symbols.h"
mv "$work/symbols.h" "$here/symbols.h"
