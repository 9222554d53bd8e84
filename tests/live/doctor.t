#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# doctor's verdict on each kind of recording is what record then does, with any set of capabilities. doctor removes
# everything that it created, even when it is killed. SOAK=1: with every set of the capabilities that may matter.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/live/lib.sh"
needs_root
needs_tracefs
apart
[ -r /sys/kernel/btf/vmlinux ] || plan_skip 'kernel has no BTF'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
cp "${SCHEDTAP:-$top/build/schedtap}" "$scratch/schedtap"
SCHEDTAP=$scratch/schedtap
unset XDG_RUNTIME_DIR

# limits CAPS: setpriv's options for another user who has these capabilities ("bpf perfmon") alone
limits()
{
	local caps=-all cap

	for cap in $1; do caps+=,+$cap; done
	echo --reuid 65534 --regid 65534 --clear-groups --inh-caps=$caps --ambient-caps=$caps --bounding-set=$caps
}

# with CAPS COMMAND...
with()
{
	setpriv $(limits "$1") "${@:2}"
}

# ---- verdicts ----

declare -A options=(
	[BPF]='-b bpf -e sched_waking'
	['bare tracepoints']='-b bpf -e sched_pelt_cfs'
	['own events']='-b bpf -e sched_waking{pid=p->pid}'
	[stacks]='-b bpf -e sched_waking --stack sched_waking:both'
	[tasks]="-b bpf -e sched_waking -p $$"
	[uprobes]="-b bpf -e uprobe:$SCHEDTAP:tap_own_probe"
	[uretprobes]="-b bpf -e uretprobe:$SCHEDTAP:tap_own_probe"
	['USDT probes']="-b bpf -e usdt:$SCHEDTAP:schedtap:doctor"
	[tracefs]='-b tracefs -e sched:sched_waking'
	['tracefs stacks']='-b tracefs -e sched:sched_waking --stack sched_waking'
	["programs' events"]='-b user -e *:*'
	[priority]='-b user -e *:* -r 40'
)

# records KIND CAPS: "ok" or "no"
records()
{
	local words

	IFS=' ' read -ra words <<<"${options[$1]}"
	rm -rf t.dat*
	if with "$2" "$SCHEDTAP" record -d 0.001 -o t.dat "${words[@]}" >record.out 2>&1; then echo ok; else echo no; fi
}

# A recording without the overhead succeeds all the same.
tells_overhead()
{
	local loading

	load &
	loading=$!
	rm -rf t.dat*
	with "$1" "$SCHEDTAP" record -d 0.2 -o t.dat -b bpf -e sched_waking >record.out 2>&1 || :
	kill $loading
	if grep -q '^overhead: [0-9]' record.out; then echo ok; else echo no; fi
}

agrees()
{
	local caps=$1 kind says

	chmod 777 .
	with "$caps" true || skip "this machine's root does not have '$caps'"
	with "$caps" "$SCHEDTAP" doctor >said 2>&1 || [ $? = 3 ]
	[ "$(sed -n 's/^\(ok\|no\)   overhead .*/\1/p' said)" = "$(tells_overhead "$caps")" ] || fail "$(cat record.out said)"
	for kind in "${!options[@]}"; do
		says=$(sed -n "s/^\(ok\|no\)   $kind  .*/\1/p" said)
		[ "$says" = "$(records "$kind" "$caps")" ] ||
			fail "with '$caps' doctor says '$says' of $kind; record: $(cat record.out said)"
	done
}

# ---- reasons ----

# The line below the kind's.
reason()
{
	grep -A 1 "^no   $1  " said | tail -n 1
}

reasons()
{
	chmod 777 .
	with 'bpf perfmon' "$SCHEDTAP" doctor >said
	if grep -q '^no   uprobes ' said; then
		must grep -q 'needs\? CAP_SYS_ADMIN' <(reason uprobes)
		run 3 setpriv $(limits 'bpf perfmon') "$SCHEDTAP" record -d 1 -o t.dat -e "uprobe:$SCHEDTAP:tap_own_probe"
		says 'cannot attach its BPF program: Permission denied: probes of programs need CAP_SYS_ADMIN'
	fi
	must grep -q 'CAP_DAC_OVERRIDE' <(reason tracefs)
	must grep -q 'CAP_SYS_NICE' <(reason priority)
	[ -e /proc/modules ] || must grep -q 'does not support loadable modules (CONFIG_MODULES)' <(reason 'kernel module')
	with bpf "$SCHEDTAP" doctor >said || [ $? = 3 ]
	must grep -q 'needs CAP_PERFMON' <(reason BPF)
	must_not grep -q 'needs CAP_PERFMON' <(reason 'own events') # which is said once
}

# ---- what is left ----

# The process in which doctor $1 tries, or nothing.
trier_of()
{
	cut -d ' ' -f 1 "/proc/$1/task/$1/children" 2>/dev/null || :
}

# Starts doctors until one is caught while COMMAND holds of the process in which it tries: $doctor and $trier.
catch()
{
	local tries

	for tries in {1..50}; do
		"$SCHEDTAP" doctor >said 2>&1 &
		doctor=$!
		trier=
		while kill -0 $doctor 2>/dev/null; do
			trier=${trier:-$(trier_of $doctor)}
			if [ -n "$trier" ] && "$@" "$trier"; then return; fi
		done
		wait $doctor || :
	done
	fail "in $tries tries not caught while: $*"
}

has_programs()
{
	programs "$1" >ids
	[ -s ids ]
}

gone()
{
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

killed()
{
	catch "$1"
	kill -9 $doctor
	wait $doctor || :
	wait_for gone $trier
	must_not instances $trier
	[ ! -s ids ] || wait_for programs_gone ids
	must test -z "$(find . -name '*.spool')"
}

trier_killed()
{
	catch instances
	kill -9 "$trier"
	wait $doctor || [ $? = 3 ]
	must grep -q 'was killed' said
	must_not instances $trier
}

undisturbed()
{
	catch true
	wait $doctor
	must_not instances "$trier"
	must_not grep -q 'was killed' said
	[ "$(find . -type f)" = ./said ] || fail "$(find .)"
}

check 'what is missing is named' reasons
check 'nothing is left' undisturbed
check 'doctor killed while it has an instance' killed instances
check 'doctor killed while it has programs' killed has_programs
check 'the process in which it tries is killed' trier_killed

sets=('' bpf perfmon 'bpf perfmon' sys_admin dac_read_search sys_resource 'dac_override sys_nice')
if [ -n "$SOAK" ]; then
	sets=()
	for ((bits = 0; bits < 128; bits++)); do
		set=
		nr=0
		for cap in bpf perfmon sys_admin sys_resource dac_read_search dac_override sys_nice; do
			(((bits >> nr++) & 1)) && set+="$cap "
		done
		sets+=("${set% }")
	done
fi
together=2
for set in "${sets[@]}"; do
	check "with '$set' doctor and record agree" agrees "$set"
done
done_testing
