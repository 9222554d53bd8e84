#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Hostile clients of a recorder's sockets (hostile.c): they belong to another user, or pass files of a file system that
# does not answer. The recorder loses nothing, takes marks, has no more descriptors than before, and ends on SIGINT.
# SOAK=1: 200 times as many messages.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=${SCHEDTAP:-$here/../../build/schedtap}
build=$(cd "$(dirname "$SCHEDTAP")" && pwd)
EMIT=$build/tests/tracepoint/emit
. "$here/lib.sh"

needs_root
apart
# the loopback interface of a new namespace is down: SIOCSIFFLAGS, IFF_UP
perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0) or die; my $up = pack("a16 s x22", "lo", 1); ioctl($s, 0x8914, $up) or die "lo: $!"'
scratch=$(mktemp -d /tmp/schedtap-hostile-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
AS_STRANGER='setpriv --reuid 65534 --regid 65534 --clear-groups'

descriptors()
{
	ls "/proc/$rec/fd" | wc -l
}

# hostile USER SOCKET KIND COUNT: while it is at work, and when it has done it, the recorder does its own
hostile()
{
	local user=$1 at=$2 kind=$3 count=$4 before nr=0

	mkdir -m 700 run
	export XDG_RUNTIME_DIR=$PWD/run PATH=$build:$PATH
	"$SCHEDTAP" record -o r.dat -b user -e 'rules:*' 2>rec.err &
	rec=$!
	wait_for has_started r.dat
	before=$(descriptors)
	porter=$(pgrep -P $rec -x schedtap-porter)
	case $at in
	session) at=/run/schedtap/sessions/$rec.socket ;;
	mark) at=$(grep -o "@schedtap-record-$rec\.0" /proc/net/unix) ;;
	esac
	$user "$build/tests/live/hostile" "$at" "$kind" "$count" >done 2>&1 &
	client=$!
	until grep -q done done; do
		if [ ! -e "/proc/$client/task" ]; then
			wait $client || { [ $? = 77 ] && skip "no FUSE"; fail "$(cat done)"; }
		fi
		# emit ends at once: the recorder learns of it only by the messages left in the socket
		"$EMIT" 100 0 >/dev/null
		run 0 "$SCHEDTAP" mark "$nr"
		nr=$((nr + 1))
	done
	"$EMIT" 100 0 >/dev/null
	run 0 "$SCHEDTAP" mark "$nr"
	# some programs that have just ended are still read
	[ "$(descriptors)" -le $((before + 64)) ] || fail "descriptors: $before, then $(descriptors): $(ls -l /proc/$rec/fd)"
	kill -INT $rec
	timeout 60 tail --pid=$rec -f /dev/null || fail "it does not end"
	wait $rec || fail "the recorder failed: $(cat rec.err)"
	grep -q ' 0 lost' rec.err || fail "lost: $(cat rec.err)"
	"$SCHEDTAP" dump -i r.dat >dumped
	[ "$(grep -c rules:plain dumped)" = $((100 * (nr + 1))) ] || fail "$(grep -c rules:plain dumped) events of $((100 * (nr + 1)))"
	[ "$(grep -c 'mark:.*text=[0-9]' dumped)" = $((nr + 1)) ] || fail "marks: $(grep mark: dumped)"
	must_not grep -q text=hostile dumped
	sed -n 's/^server //p' done | xargs -r kill -9 # then all that waits for its answers goes on
	kill $client
	wait $client || :
	umount fuse 2>/dev/null || :
	wait_for not [ -e "/proc/$porter/task" ]
}

not()
{
	! "$@"
}

times=1
[ -z "$SOAK" ] || times=200
check "two descriptors in a message" hostile "$AS_STRANGER" session two $((1000 * times))
check "a hundred descriptors in a message" hostile "$AS_STRANGER" session many $((300 * times))
check "descriptors of something else" hostile "$AS_STRANGER" session wrong $((1000 * times))
check "connections that linger" hostile "$AS_STRANGER" session lingers $((20 * times))
check "files of a file system that does not answer" hostile "" session fuse 5
check "callers that say nothing" hostile "$AS_STRANGER" session silent 600
check "marks of strangers, with descriptors" hostile "$AS_STRANGER" mark many $((300 * times))
check "marks of strangers, with connections that linger" hostile "$AS_STRANGER" mark lingers $((20 * times))
done_testing
