#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/run counts results in every form of TAP that tests use, runs all files even if some fail, runs a file alone where
# its head asks for that, repeats a file that found the machine busy, ends hanging tests, and reports leftover processes
# and files. tests/again counts failures.
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

file() { # NAME: a test that has standard input's lines for a shell
	{ echo '#!/bin/sh'; cat; } >"$tmp/$1"
	chmod +x "$tmp/$1"
}

run() { # FILE...: its output is in out, its exit status in status
	(cd "$tmp" && env -u JOBS "$run" "$@") >"$tmp/out" 2>&1
	status=$?
}

says() { grep -qxE -- "$1" "$tmp/out"; }
last() { test "$(tail -n 1 "$tmp/out")" = "$1"; }

cat >"$tmp/perl.t" <<'END'
#!/usr/bin/perl
use Test::More;
ok(1, 'one');
SKIP: { skip('reason one', 1) }
note('SKIP of what is inside');
subtest three => sub { ok(1, 'inner'); SKIP: { skip('reason two', 1) } };
done_testing();
END
chmod +x "$tmp/perl.t"
file sh.t <<<'echo "ok 1 - one # SKIP reason three"; echo ok 2; echo 1..2'
file all.t <<<'echo "1..0 # SKIP reason four"'
file bad.t <<<'echo "# good: why"; echo "ok 1 - good"; echo "# bad: why"; echo "not ok 2 - bad"; echo 1..2; echo "bad: where" >&2'

file unit.t <<<'echo "# SKIP reason five" >&2; echo ok 1; echo 1..1'
run perl.t sh.t all.t unit.t
ok 'passes' test $status = 0
ok 'counts all and five skips' last '5 passed, 0 failed, 5 skipped'
for reason in one two three four five; do
	ok "prints reason $reason" says " +1  reason $reason"
done
ok 'prints no comment' test 0 = "$(grep -c 'SKIP of what' "$tmp/out")"
run bad.t perl.t
ok 'fails' test $status = 1
ok 'and runs the others' last '4 passed, 1 failed, 2 skipped'
ok 'prints what failed' says ' *not ok 2 - bad'
ok 'with what it said' says ' *# bad: why'
ok 'and wrote elsewhere' says ' *bad: where'
ok 'and not what others said' test 0 = "$(grep -c '# good' "$tmp/out")"

file short.t <<<'echo 1..2; echo ok 1'
file status.t <<<'echo 1..1; echo ok 1; exit 3'
file killed.t <<<'echo 1..1; echo ok 1; kill -9 $$'
file silent.t <<<':'
for name in short status killed silent; do
	run $name.t
	ok "a failure: $name.t" test $status = 1
done
run no_such_file
ok 'wrong words' test $status = 2

file hangs.t <<<'echo 1..1; sleep 1000 | cat'
TEST_LIMIT=1 run hangs.t all.t
ok 'ends what hangs' test $status = 1
ok 'says where it hangs' says ' *# process [0-9]+: sleep 1000 '
ok 'and goes on' says ' +1  reason four'

# alone: nothing else is there, and it comes last
file other.t <<<'echo 1..1; touch running; sleep 0.5; rm running; echo ok 1'
file alone.t <<'END'
# alone: it measures
echo 1..1
[ ! -e running ] && echo ok 1 || echo not ok 1
END
run alone.t other.t
ok 'what must be alone is' last '3 passed, 0 failed, 0 skipped'
ok 'and comes last' test "$(grep -o '[a-z]*\.t:' "$tmp/out" | xargs)" = 'other.t: alone.t:'

# busy: its second result counts
file busy.t <<<'echo 1..1; [ -e second ] && echo ok 1 || echo "ok 1 # SKIP machine was busy: others"; touch second'
run busy.t
ok 'busy once is no skip' last '2 passed, 0 failed, 0 skipped'
file always.t <<<'echo 1..20; for i in $(seq 20); do echo "ok $i # SKIP machine was busy: others"; done'
run always.t
ok '20 busy tests are skips' last '1 passed, 0 failed, 20 skipped'
cp "$tmp/always.t" "$tmp/too.t"
run always.t sh.t too.t
ok '40 are a failure' last '2 passed, 1 failed, 41 skipped'

file leaves.t <<'END'
setsid sleep 1000 >/dev/null 2>&1 &
until grep -qz '^sleep' /proc/$!/cmdline; do sleep 0.01; done
touch $TMPDIR/left
echo 1..1
echo ok 1
END
run leaves.t
ok 'what is left is a failure' test $status = 1
ok 'a file' says ' *# file .*/left'
ok 'a process' says ' *# process [0-9]+: sleep 1000 '
pid=$(sed -n 's/.*# process \([0-9]*\): sleep 1000 .*/\1/p' "$tmp/out")
ok 'that is there' kill "$pid"

file odd.t <<<'echo 1..1; echo x >>runs; [ $(($(wc -l <runs) % 2)) = 0 ] && echo ok 1 || echo not ok 1'
(cd "$tmp" && "${run%/*}/again" -n 4 -k 1 odd.t) >"$tmp/out" 2>&1
status=$?
ok 'tests/again: failures of so many runs' says ' 2 of 4 failed,  0 found the machine busy: odd.t'
ok 'and its exit status' test $status = 1
echo "1..$n"
exit $failed
