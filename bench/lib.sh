# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Shared by the benchmark scripts. SCHEDTAP names the program, ROUNDS how often each thing is
# measured (the median counts).
set -euo pipefail
export LC_ALL=C

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
schedtap=${SCHEDTAP:-$bench/../build/schedtap}
rounds=${ROUNDS:-5}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/schedtap-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

fail() { echo "$(basename "$0"): $*" >&2; exit 1; }

need() {
	local tool

	for tool; do
		command -v "$tool" >/dev/null || fail "'$tool' is needed"
	done
	[ "$(id -u)" = 0 ] || fail 'recording needs root'
	[ -x "$schedtap" ] || fail "'$schedtap' is not built"
}

# Compiles a helper of this folder into $tmp.
helper() {
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O2 -o "$tmp/$1" "$bench/$1.c" "${@:2}"
}

title() {
	echo "## $1"
	echo
	echo "$(uname -sr), $(nproc) CPUs ($(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)),"\
		"$("$schedtap" --version 2>/dev/null | head -n 1), $(date -u +%F)."
	echo "Method: $2"
	echo
}

row() { local IFS='|'; echo "|$*|"; }

# Numbers, one a line, on stdin.
median() {
	sort -g | awk '{ v[NR] = $1 } END { if (!NR) exit 1
		print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# calc FORMAT EXPRESSION [NAME=VALUE...]
calc() {
	local format=$1 expression=$2 args=() pair

	shift 2
	for pair; do
		args+=(-v "$pair")
	done
	awk "${args[@]}" "BEGIN { printf \"$format\", $expression }"
}

# The value at a path of keys ("price.events") of a recording's summary; - if it is not there.
summary() {
	"$schedtap" summary -i "$1" --json | perl -MJSON::PP -0777 -ne '
		my $v = decode_json($_);
		$v = ref($v) eq "HASH" ? $v->{$_} : undef for split /\./, "'"$2"'";
		print $v // "-", "\n"'
}

# Runs a command; leaves its CPU time (user and system, seconds) in the file named first.
cpu_time() {
	local file=$1 TIMEFORMAT='%U %S'

	shift
	{ time "$@" >/dev/null 2>"$tmp/stderr"; } 2>"$tmp/time" ||
		fail "'$*' failed: $(tail -n 1 "$tmp/stderr")"
	awk '{ print $1 + $2 }' "$tmp/time" >>"$file"
}

# The highest private memory of a command, MB: looked at every millisecond, from the exec on.
peak() {
	perl -MPOSIX=:sys_wait_h -e '
		my ($peak, $pid) = (0, fork() // die);
		if (!$pid) {
			open(STDOUT, ">", "/dev/null") && exec(@ARGV) or die;
		}
		until (waitpid($pid, WNOHANG)) {
			open(my $f, "<", "/proc/$pid/status") or die;
			my $status = do { local $/; <$f> };
			$peak = $1 if $status !~ /^Name:\s+perl$/m &&
				$status =~ /^RssAnon:\s+(\d+)/m && $1 > $peak;
			select(undef, undef, undef, 0.001);
		}
		die "failed\n" if $?;
		printf("%.1f", $peak / 1024)' "$@" 2>"$tmp/stderr" ||
		fail "$*: $(tail -n 1 "$tmp/stderr")"
}
