# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For tests in sh or bash: source it, call check, and at the end say "1..$n" and exit $failed.
n=0 failed=0

# check NAME COMMAND...: one TAP line; what the command prints becomes its comment.
check()
{
	n=$((n + 1))
	name=$1
	shift
	if said=$("$@" 2>&1); then
		echo "ok $n - $name"
	else
		failed=1
		echo "not ok $n - $name"
		echo "$said" | sed 's/^/# /' >&2
	fi
}
