#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap ab on this kernel: a command that takes longer is found to, the same command twice is not found to differ.
# alone: it measures time
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
scratch=$(mktemp -d /tmp/schedtap-ab-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

# verdicts FILE: each once
verdicts()
{
	perl -MJSON::PP -0777 -ne 'my %seen = map { $_->{verdict} => 1 } @{decode_json($_)->{metrics}}; print join(" ", sort(keys(%seen)))' "$1"
}

# Then its recordings are compared again, where length is no cost.
longer_is_found()
{
	watch_load
	"$SCHEDTAP" ab -r 4 -o longer -m recording.window --json 'sleep 0.1' 'sleep 0.2' >longer.json
	must_if_quiet [ "$(verdicts longer.json)" = worse ]
	"$SCHEDTAP" diff -m recording.window --json longer/b-*.dat -- longer/a-*.dat >shorter.json
	must [ "$(verdicts shorter.json)" = changed ]
}

# Chance has 5 % of a difference; three times in a row it would be none.
same_command_does_not_differ()
{
	watch_load
	for try in 1 2 3; do
		"$SCHEDTAP" ab -r 4 -o same$try --json 'sleep 0.05' 'sleep 0.05' >same.json
		verdicts same.json
		case $(verdicts same.json) in *better* | *worse* | *changed*) ;; *) return ;; esac
	done
	must_if_quiet false
}

check 'a command that takes longer is worse, and the other way round shorter' longer_is_found
check 'two runs of one command do not differ' same_command_does_not_differ
done_testing
