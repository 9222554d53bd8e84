#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The helpers that the programs call as the kernel has translated them, against a list with the reason of each. A call
# costs as much as the rest of a small program, so no path that every event takes has one besides the clock.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use IPC::Open3;
use Test::More;
use lib dirname(abs_path($0)) . '/..';
use Files;

my $schedtap = $ENV{SCHEDTAP} // dirname(abs_path($0)) . '/../../build/schedtap';
my $calls_of = dirname($schedtap) . '/tests/live/calls_of';
my $tmp = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $>;
plan(skip_all => 'the kernel has no BTF') if !-r '/sys/kernel/btf/vmlinux';

# Calls that any program may have.
my %any = (bpf_ktime_get_ns => 'the time stamp, and that of a loss');
my $current = 'common_pid, where the tracepoint does not pass the current task';
my $text = 'a text of any length';
my $throttled = 'only for a task that is throttled';

# Calls by program, and why.
my %reason = (
	sched_throttle => { map { $_ => $throttled } qw(bpf_probe_read_kernel __htab_map_lookup_elem htab_map_update_elem) },
	sched_throttle_wakeup => { map { $_ => $throttled } qw(bpf_probe_read_kernel __htab_map_lookup_elem htab_map_update_elem) },
	sched_unthrottle => { map { $_ => $throttled } qw(bpf_probe_read_kernel bpf_for_each_hash_elem htab_map_delete_elem) },
	sched_overutilized => { bpf_probe_read_kernel => 'a bit mask of any length, at a change of the whole machine' },
	(map { $_ => { bpf_probe_read_kernel_str => $text } }
		qw(sched_migrate_task sched_process_fork sched_process_exec irq_handler_entry cgroup_attach_task cgroup_mkdir task_rename)),
);

# Those of the calls that have no reason.
sub unexplained {
	my ($program, $tracepoint, @calls) = @_;
	my %may = (%any, %{$reason{$program} // {}}, $tracepoint eq 'sched_switch' ? () : (bpf_get_current_task_btf => $current));

	return [sort(grep { !$may{$_} } @calls)];
}

my $pid = 0;
END { kill('TERM', $pid) if $pid }

# Checks the programs of a recording. Return: their number.
sub check_programs {
	my (@options) = @_;
	my (@head, %calls);

	$pid = open3(my $go, my $out, undef, $schedtap, qw(record -b bpf -o), "$tmp/t.dat", @options, '--', qw(sh -c), 'echo ready; read -r _; true');
	while (defined(my $line = readline($out))) {
		last if $line eq "ready\n";
		push(@head, $line); # such as events that this kernel does not have
	}
	my %ids = map { $_ => 1 } scalar(qx(cat /proc/$pid/fdinfo/* 2>/dev/null)) =~ /^prog_id:\s*(\d+)/mg;
	for (split(/\n/, scalar(qx($calls_of @{[sort(keys(%ids))]})))) {
		my ($program, $function) = split(' ');

		push(@{$calls{$program}}, $function);
	}
	for my $name (sort(keys(%calls))) {
		my ($program, $tracepoint) = $name =~ /^(\w+?)__(\w+)/ or next;

		ok(scalar(grep { $_ eq 'bpf_ktime_get_ns' } @{$calls{$name}}), "$program at $tracepoint: the names are right") or diag(@head);
		is_deeply(unexplained($program, $tracepoint, @{$calls{$name}}), [], "$program at $tracepoint: each call has its reason");
	}
	close($go);
	waitpid($pid, 0);
	is($?, 0, 'the recording ends well');
	$pid = 0;
	return scalar(keys(%calls));
}

my @events = map { /^bpf\s+(\S+)/ && $1 !~ /lost|_off$|stack/ ? ('-e', $1) : () } split(/\n/, qx($schedtap list));

cmp_ok(check_programs(@events), '>=', 20, 'programs');
cmp_ok(check_programs('--lean'), '>=', 5, 'programs of a lean recording');
done_testing();
