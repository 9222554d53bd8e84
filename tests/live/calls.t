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
use JSON::PP;
use Test::More;
use lib dirname(abs_path($0)) . '/..';
use Files;

my $schedtap = $ENV{SCHEDTAP} // dirname(abs_path($0)) . '/../../build/schedtap';
my $tmp = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $>;
plan(skip_all => 'the kernel has no BTF') if !-r '/sys/kernel/btf/vmlinux';
plan(skip_all => 'no bpftool') if system('command -v bpftool >/dev/null');

# Calls that any program may have.
my %any = (
	bpf_ktime_get_ns => 'the time stamp, and that of a loss',
	bpf_tail_call => 'the next event of the tracepoint',
);
my $current = 'common_pid, where the tracepoint does not pass the current task';
my $text = 'a text of any length';
my $throttled = 'only for a task that is throttled';

# Calls by program, and why; 'at TRACEPOINT' is all programs there.
my %reason = (
	sched_throttle => { map { $_ => $throttled } qw(bpf_probe_read_kernel __htab_map_lookup_elem htab_map_update_elem) },
	sched_throttle_wakeup => { map { $_ => $throttled } qw(bpf_probe_read_kernel __htab_map_lookup_elem htab_map_update_elem) },
	sched_unthrottle => { map { $_ => $throttled } qw(bpf_probe_read_kernel bpf_for_each_hash_elem htab_map_delete_elem) },
	sched_overutilized => { bpf_probe_read_kernel => 'a bit mask of any length, at a change of the whole machine' },
	(map { $_ => { bpf_probe_read_kernel_str => $text } }
		qw(sched_migrate_task sched_process_fork sched_process_exec irq_handler_entry cgroup_attach_task cgroup_mkdir)),
);

# The calls of the program that may have none of them, with their numbers.
sub unexplained {
	my ($program, $tracepoint, $code) = @_;
	my %calls;

	$calls{$1}++ while $code =~ /\bcall (\w+)/g;
	delete($calls{bpf_get_current_task_btf}) if $tracepoint ne 'sched_switch' && $current;
	delete(@calls{keys(%any), keys(%{$reason{$program} // {}})});
	return join(' ', map { "$_ x$calls{$_}" } sort(keys(%calls)));
}

my @events = map { /^bpf\s+(\S+)/ && $1 !~ /lost|_off$|stack/ ? ('-e', $1) : () } split(/\n/, qx($schedtap list));
my $pid = open3(my $go, my $out, undef, $schedtap, qw(record -b bpf -o), "$tmp/t.dat", @events, '--', qw(sh -c), 'echo ready; read -r _; true');
END { kill('TERM', $pid) if $pid }
my @head;
while (defined(my $line = readline($out))) {
	last if $line eq "ready\n";
	push(@head, $line); # such as events that this kernel does not have
}

my %ids = map { $_ => 1 } scalar(qx(cat /proc/$pid/fdinfo/* 2>/dev/null)) =~ /^prog_id:\s*(\d+)/mg;
my $nr = 0;

for my $prog (grep { $ids{$_->{id}} } @{decode_json(scalar(qx(bpftool -j prog show)))}) {
	my ($program, $tracepoint) = $prog->{name} =~ /^(\w+?)__(\w+)/ or next;
	my $code = qx(bpftool prog dump xlated id $prog->{id});

	like($code, qr/call bpf_ktime_get_ns/, "$program at $tracepoint: translated");
	is(unexplained($program, $tracepoint, $code), '', "$program at $tracepoint: each call has its reason");
	$nr++;
}
cmp_ok($nr, '>=', 20, 'programs') or diag(@head);
close($go);
waitpid($pid, 0);
is($?, 0, 'the recording ends well');
$pid = 0;
done_testing();
