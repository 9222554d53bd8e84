#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The flight recorder's unit: what it may do there is enough for a recorder. Without systemd, the test itself takes away what the
# unit takes away: capabilities, new privileges, and all file systems that are not named become read-only.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=${SCHEDTAP:-$here/../../build/schedtap}
build=$(cd "$(dirname "$SCHEDTAP")" && pwd)
EMIT=$build/tests/tracepoint/emit
unit=$here/../../tools/schedtap-flight.service
. "$here/lib.sh"

needs_root
apart
[ -r /sys/kernel/btf/vmlinux ] || plan_skip "kernel has no BTF"
scratch=$(mktemp -d /tmp/schedtap-service-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

setting()
{
	sed -n "s/^$1=//p" "$unit"
}

# The unit's command as systemd would run it with the options $2. $1: the folder in place of /var/lib/schedtap
command_line()
{
	setting ExecStart | sed "s|@BIN@/schedtap|$SCHEDTAP|; s|/var/lib/schedtap|$1|; s|\\\$OPTIONS|$2|"
}

default_options()
{
	setting Environment | sed 's/^"OPTIONS=//; s/"$//'
}

# confined COMMAND...: as the unit confines it; the case's folder stands for the state directory
confined()
{
	local caps

	must [ "$(setting ProtectSystem)" = strict ]
	caps=$(setting CapabilityBoundingSet | sed 's/CAP_/+/g; s/ /,/g' | tr A-Z a-z)
	exec unshare -m bash -c '
		mount --make-rprivate /
		for keep in '"$(setting ReadWritePaths)"' "$1"; do mount --rbind "$keep" "$keep"; done
		cd "$1"
		for at in $(cut -d" " -f 5 /proc/self/mountinfo); do
			case $at in
			/proc|/proc/*|/sys|/sys/*|/dev|/dev/*|"$1") ;;
			*) for keep in '"$(setting ReadWritePaths)"'; do [[ $at/ != $keep/* ]] || continue 2; done
			   mount -o remount,bind,ro "$at" 2>/dev/null ;;
			esac
		done
		shift
		exec setpriv --no-new-privs --bounding-set "-all,$0" --inh-caps "-all" "$@"' "$caps" "$PWD" "$@"
}

it_is_confined()
{
	(confined touch /etc/schedtap-test) 2>err && fail "it writes to /etc"
	must grep -q 'Read-only file system' err
	(confined sh -c 'grep CapBnd /proc/self/status; touch here') >caps
	must [ -e here ]
	must grep -q '^CapBnd:.*[1-9a-f]' caps
	must_not grep -q '^CapBnd:.*000001ffffffffff' caps
}

records_with_its_options()
{
	(eval "confined $(command_line "$PWD" "$(default_options)") -d 0.2") 2>flight.err || fail "$(cat flight.err)"
	must grep -q 'conditions that never fired\|flight-.*\.dat' flight.err
}

# BACKEND...: a mark makes it save a file, which has kernel events. Without the conditions, which fire on a busy machine.
saves_a_file()
{
	(eval "confined $(command_line "$PWD" '--keep 64M') $*") 2>flight.err &
	job=$!
	wait_for has_started flight.dat
	must "$SCHEDTAP" mark here
	wait_for compgen -G 'flight-*.dat'
	kill -INT $job
	wait $job || fail "$(cat flight.err)"
	must_not grep -q 'real-time' flight.err
	"$SCHEDTAP" dump -i flight-*.dat -e sched_switch >dump
	must [ -s dump ]
	must "$SCHEDTAP" dump -i flight-*.dat -e mark >mark
	must grep -q here mark
}

records_programs_of_others()
{
	[ -x "$EMIT" ] || skip "$EMIT is not built"
	(eval "confined $(command_line "$PWD" '--keep 64M') -e 'rules:*' -e sched_switch") 2>flight.err &
	job=$!
	wait_for has_started flight.dat
	setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_RUNTIME_DIR "$EMIT" 100 1000 >/dev/null 2>emit.err ||
		fail "$(cat emit.err)"
	must "$SCHEDTAP" mark here
	wait_for compgen -G 'flight-*.dat'
	kill -INT $job
	wait $job || fail "$(cat flight.err)"
	"$SCHEDTAP" dump -i flight-*.dat -e "rules:*" >dump
	must [ "$(wc -l <dump)" = 100 ]
}

check "what is confined cannot write elsewhere, and lacks capabilities" it_is_confined
check "it starts with the unit's options" records_with_its_options
check "it saves a file" saves_a_file
check "over tracefs" saves_a_file -b tracefs
check "with another user's programs" records_programs_of_others
done_testing
