#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every public header compiles alone, as C and as C++; every file says its licence.
cd "$(dirname "$0")/../.." || exit 1
headers=(include/schedtap/*.h)
echo "1..$((2 * ${#headers[@]} + 1))"
n=0
for header in "${headers[@]}"; do
	for language in c c++; do
		n=$((n + 1))
		flags=(-Wall -Wextra -Wsystem-headers -Werror -Iinclude -fsyntax-only -x "$language")
		if echo "#include <${header#include/}>" | cc "${flags[@]}" - 2>/tmp/headers.$$; then
			echo "ok $n - $header alone, as $language"
		else
			echo "not ok $n - $header alone, as $language"
			sed 's/^/# /' /tmp/headers.$$ >&2
		fi
		rm -f /tmp/headers.$$
	done
done
n=$((n + 1))
# a copy of the tree need not be a repository
sources()
{
	git ls-files '*.c' '*.h' '*.t' '*.sh' Makefile tools bench 2>/dev/null ||
		find . -path './build*' -prune -o \( -name '*.[ch]' -o -name '*.t' -o -name '*.sh' -o -path './tools/*' -o -path './bench/*' \) -type f -print
}
unmarked=$(sources | xargs grep -L 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' | grep -v '\.in$')
[ -z "$unmarked" ] && echo "ok $n - every file says its licence" || echo "not ok $n - no licence line in: $unmarked"
