#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that use the library (examples/*.c that read recordings, tests/library/*.c), compiled against the installed library
# with what pkg-config says: their results are those of the program's own reports.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
schedtap=${SCHEDTAP:-$build/schedtap} mkdat=${MKDAT:-$build/tests/mkdat}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$root/tests/golden/check.sh"

install_library()
{
	env -u MAKEFLAGS -u MAKELEVEL -u SAN make -s -C "$root" B="$build" PREFIX="$tmp/usr" install
}

compile() # the program's source
{
	export PKG_CONFIG_LIBDIR=$tmp/usr/lib/pkgconfig
	${CC:-cc} -Wall -Wextra -Werror -pedantic -std=c11 -D_POSIX_C_SOURCE=200809L "$root/$1" -o "$tmp/$(basename "$1" .c)" \
		$(pkg-config --cflags --libs schedtap) -Wl,-rpath,"$tmp/usr/lib"
}

is_short() { [ "$(grep -cvE '^ ?(/?\*|$)' "$root/examples/$1.c")" -le "$2" ]; }

# The longest wait of each task, of both.
same_as_latency()
{
	"$tmp/longest_waits" "$1" | sort >"$tmp/ours"
	"$schedtap" latency --json "$1" | perl -MJSON::XS -0777 -ne '
		$_->{max_ns} && print("$_->{comm} $_->{tid} $_->{max_ns}\n") for @{decode_json($_)->{tasks}}' | sort >"$tmp/latency"
	[ -s "$tmp/latency" ] && diff "$tmp/latency" "$tmp/ours"
}

same_as_migrations()
{
	"$tmp/migration_matrix" "$1" '*' >"$tmp/matrix"
	"$schedtap" migrations --json "$1" | MATRIX=$tmp/matrix perl -MJSON::XS -0777 -ne '
		my $m = decode_json($_); my %nr = map { ("$_->{from_cpu} $_->{to_cpu}" => $_->{total}) } @{$m->{pairs}};
		open(my $f, "<", $ENV{MATRIX}) or die; local $/ = "\n"; my $from = 0;
		while (<$f>) {
			my @row = split; my $to = 0;
			for my $v (@row) { my $w = delete($nr{"$from $to"}) // 0; $v == $w or die "$from to $to: $v, not $w\n"; $to++ }
			$from++;
		}
		%nr and die "not in the matrix: ", join(",", keys(%nr)), "\n"; $from or die "no rows\n"'
}

# Each task's spans add up to what `states` says.
same_as_states()
{
	"$tmp/state_spans" "$1" >"$tmp/spans" && "$schedtap" states --json "$1" >"$tmp/states" &&
		perl -MJSON::XS -e '
			sub slurp { local (@ARGV, $/) = @_; <> }
			my %sum; $sum{$_->{tid}} += $_->{dur} * 1000 for @{decode_json(slurp($ARGV[0]))};
			my %life; $life{$_->{tid}} += $_->{life_ns} for @{decode_json(slurp($ARGV[1]))->{tasks}};
			%life or die "no tasks\n";
			for (keys(%life)) { abs($life{$_} - ($sum{$_} // 0)) < 1 or die "tid $_: $sum{$_}, its life is $life{$_}\n" }' \
			"$tmp/spans" "$tmp/states"
}

same_as_reports() { "$root/tests/library/same" "$tmp/watchers" "$schedtap" "$@"; }

# Each of the 10 longest waits, its length, and each of its reasons.
same_as_explain()
{
	"$tmp/worst_waits" "$1" >"$tmp/waits" && "$schedtap" explain --json "$1" | WAITS=$tmp/waits perl -MJSON::XS -0777 -ne '
		my $waits = decode_json($_)->{waits}; @$waits or die "no waits\n";
		open(my $f, "<", $ENV{WAITS}) or die; local $/ = "\n"; my @lines = <$f>;
		@lines == @$waits or die scalar(@lines), " waits\n";
		for my $w (@$waits) {
			my ($line, $ms) = (shift(@lines), sprintf("%.3f", $w->{wait_ns} / 1e6));
			my @ns = sort { $b <=> $a } map { $_->{ns} } @{$w->{pieces}};
			my $reasons = join(", ", map { sprintf("%d.%03d ms [^,]+", $_ / 1e6, int($_ / 1e3) % 1e3) } @ns);
			$line =~ /^\Q$w->{comm}\E \[$w->{tid}\] waited $ms ms: $reasons$/ or die "$line, not $w->{comm} $ms $reasons\n" }'
}

refuses()
{
	"$tmp/longest_waits" "$tmp/empty.dat" 2>"$tmp/err" && return 1
	grep -q 'has no sched_switch' "$tmp/err"
}

check 'the library is installed' install_library
for example in longest_waits migration_matrix state_spans; do
	check "$example compiles against it" compile examples/$example.c
	check "$example has no more than 60 lines" is_short $example 60
done
check "worst_waits compiles against it" compile examples/worst_waits.c
check "worst_waits has no more than 20 lines" is_short worst_waits 20
check "the built-in watchers' test compiles against it" compile tests/library/watchers.c
check "the refusals' test compiles against it" compile tests/library/refusals.c
check "the test of all functions compiles against it" compile tests/library/members.c
for in in latency/tasks latency/loss latency/worst latency/offline migrations/text; do
	"$mkdat" "$root/tests/golden/$in/in.txt" "$tmp/in.dat" || exit 1
	case $in in
	latency/*) check "$in: the longest waits are those of latency" same_as_latency "$tmp/in.dat" ;;
	*) check "$in: the matrix is that of migrations" same_as_migrations "$tmp/in.dat" ;;
	esac
	check "$in: spans add up to each task's life" same_as_states "$tmp/in.dat"
done
# a schedule that was simulated, and of which events were lost
for seed in 1 2 3; do
	mkdir "$tmp/$seed" && "$build/tests/truth/generate" $seed 2000 "$tmp/$seed" || exit 1
	for damage in whole losses hidden single; do
		check "simulated, $damage: the longest waits are those of latency" same_as_latency "$tmp/$seed/$damage.dat"
	done
done
for in in ../library latency/tasks latency/loss latency/throttled latency/offline states/json summary/off summary/limited-cpus summary/by-content \
	pelt/json pelt/cgroups pelt/loss explain/kinds explain/cgroups explain/picks explain/lost explain/affinity; do
	"$mkdat" "$root/tests/golden/$in/in.txt" "$tmp/in.dat" || exit 1
	check "$in: the built-in watchers find what the reports find" same_as_reports "$tmp/in.dat"
done
for damage in whole losses hidden single; do
	check "simulated, $damage: the built-in watchers find what the reports find" same_as_reports "$tmp/1/$damage.dat"
done
check 'simulated: of one task' same_as_reports "$tmp/1/losses.dat" 101
check 'simulated: of one CPU' same_as_reports "$tmp/1/losses.dat" '' 1
check 'simulated: the longest waits and their reasons are those of explain' same_as_explain "$tmp/1/whole.dat"
"$mkdat" "$root/tests/library/in.txt" "$tmp/in.dat" || exit 1
check 'of one task' same_as_reports "$tmp/in.dat" 100
check 'of one CPU' same_as_reports "$tmp/in.dat" '' 1
check 'what the library refuses' "$tmp/refusals" "$tmp/in.dat"
"$mkdat" "$root/tests/library/members.txt" "$tmp/members.dat" || exit 1
check 'every function of a watcher is called' "$tmp/members" "$tmp/members.dat"
"$mkdat" "$root/tests/golden/pelt/refused/in.txt" "$tmp/empty.dat" || exit 1
check 'a recording without switches is refused' refuses
echo "1..$n"
exit $failed
