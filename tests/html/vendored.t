#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Third-party code is unchanged: the files of each folder of third_party are exactly those named in its
# VERSION, with the checksums given there, next to version and licence.
cd "$(dirname "$0")/../../third_party" || exit 1
folders=(*/)
echo "1..$((3 * ${#folders[@]}))"
n=0

ok() { n=$((n + 1)); [ "$1" = 0 ] && echo "ok $n - $2" || echo "not ok $n - $2"; }

for folder in "${folders[@]%/}"; do
	sums=$(grep -E '^[0-9a-f]{64}  ' "$folder/VERSION")
	[[ $(head -n 1 "$folder/VERSION") =~ ^[A-Za-z]+\ [0-9]+(\.[0-9]+)+$ ]] && [ -s "$folder/LICENSE" ]
	ok $? "$folder has a version and a licence"
	(cd "$folder" && sha256sum --quiet --check <<<"$sums" >&2)
	ok $? "$folder is what was released"
	[ "$(cut -c67- <<<"$sums" | sort)" = "$(cd "$folder" && find . -type f ! -name VERSION -printf '%P\n' | sort)" ]
	ok $? "$folder has nothing beside that"
done
