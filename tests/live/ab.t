#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap ab on this kernel: a command that takes longer is found to, the same command twice is not found to differ.
root=$(cd "$(dirname "$0")/../.." && pwd)
schedtap=${SCHEDTAP:-$root/build/schedtap}
[ "$(id -u)" = 0 ] || { echo '1..0 # SKIP not root'; exit 0; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$root/tests/golden/check.sh"

# verdicts METRIC FILE: of metrics with such names, each once
verdicts()
{
	perl -MJSON::PP -0777 -e 'my ($re, $file) = @ARGV; local @ARGV = $file; my %seen;
		$_->{metric} =~ /$re/ and $seen{$_->{verdict}} = 1 for @{decode_json(<>)->{metrics}}; print join(" ", sort(keys(%seen)))' "$1" "$2"
}

longer_is_found()
{
	"$schedtap" ab -r 4 -o "$tmp/longer" -m recording.window --json 'sleep 0.1' 'sleep 0.2' >"$tmp/longer.json" &&
		[ "$(verdicts . "$tmp/longer.json")" = worse ]
}

shorter_is_found()
{
	"$schedtap" diff -m recording.window --json "$tmp"/longer/b-*.dat -- "$tmp"/longer/a-*.dat >"$tmp/shorter.json" &&
		[ "$(verdicts . "$tmp/shorter.json")" = changed ]
}

# chance has 5 % of a difference; three times in a row it would be none
same_is_not_told_apart()
{
	for try in 1 2 3; do
		"$schedtap" ab -r 4 -o "$tmp/same$try" --json 'sleep 0.05' 'sleep 0.05' >"$tmp/same.json" || return 1
		verdicts . "$tmp/same.json"
		case $(verdicts . "$tmp/same.json") in *better* | *worse* | *changed*) ;; *) return 0 ;; esac
	done
	return 1
}

check 'a command that takes longer is worse' longer_is_found
check 'its recordings are compared again, where length is no cost' shorter_is_found
check 'the same command is not told apart' same_is_not_told_apart
echo "1..$n"
exit $failed
