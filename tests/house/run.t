#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/run prints and counts each skip, however a test says it, fails if one test fails, and ends one that hangs.
run=$(cd "$(dirname "$0")/.." && pwd)/run
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0
failed=0

ok() { # NAME COMMAND...
	local name=$1

	shift
	n=$((n + 1))
	"$@" && echo "ok $n - $name" || { failed=1; echo "not ok $n - $name"; sed 's/^/# /' "$tmp/out" >&2; }
}

cat >"$tmp/perl.t" <<'END'
#!/usr/bin/perl
use Test::More;
ok(1, 'one');
SKIP: { skip('reason one', 1) }
note('SKIP of what is inside');
subtest three => sub { ok(1, 'inner'); SKIP: { skip('reason two', 1) } };
done_testing();
END
printf '#!/bin/sh\necho "ok 1 - one # SKIP reason three"; echo ok 2; echo 1..2\n' >"$tmp/sh.t"
printf '#!/bin/sh\necho "1..0 # SKIP reason four"\n' >"$tmp/all.t"
printf '#!/bin/sh\necho "# good: why"; echo "ok 1 - good"; echo "# bad: why"; echo "not ok 2 - bad"; echo "# bad: where"; echo 1..2\n' >"$tmp/bad.t"
chmod +x "$tmp"/*.t

"$run" "$tmp"/{perl,sh,all}.t >"$tmp/out" 2>&1
ok 'passes' test $? = 0
ok 'counts four' grep -qx 'skipped: 4' "$tmp/out"
for reason in one two three four; do
	ok "prints reason $reason" grep -q "reason $reason" "$tmp/out"
done
ok 'prints no comment' test 0 = "$(grep -c 'SKIP of what' "$tmp/out")"
ok 'prints no test that passed' test "$(grep -cE 'ok [0-9]+( - (one|inner))?$' "$tmp/out")" = 0
"$run" "$tmp"/{perl,bad}.t >"$tmp/out" 2>&1
ok 'fails' test $? != 0
ok 'and prints what failed' grep -q '^not ok 2 - bad' "$tmp/out"
ok 'with what it said' test "$(grep -c '^# bad: w' "$tmp/out")" = 2
ok 'and not what others said' test "$(grep -c '^# good' "$tmp/out")" = 0

printf '#!/bin/sh\necho 1..1\nsleep 1000 | cat\n' >"$tmp/hangs.t"
chmod +x "$tmp/hangs.t"
TEST_LIMIT=1 "$run" "$tmp"/{hangs,all}.t >"$tmp/out" 2>&1
ok 'ends what hangs' test $? != 0
ok 'says where it hangs' grep -q '^# process [0-9]*: sleep 1000' "$tmp/out"
ok 'and goes on' grep -q 'reason four' "$tmp/out"
echo "1..$n"
exit $failed
