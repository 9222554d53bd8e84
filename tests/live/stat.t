#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap stat: its numbers of a command against what the kernel has counted of it (tally_load.c), with a child and with several; and
# how it ends.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::XS;
use List::Util qw(sum0);
use Test::More;
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Cgroups;
use Files;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $load = ($ENV{BUILD} // "$here/../../build") . '/tests/live/tally_load';
my $dir = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;
my $mount = cgroup_mount();
plan(skip_all => 'no cgroup hierarchy') if !$mount;
my $cgroup = "$mount/stat-$$";
END { my $status = $?; rmdir("$cgroup/below"), rmdir($cgroup) if $cgroup; $? = $status }
mkdir($cgroup) && mkdir("$cgroup/below") or plan(skip_all => "no cgroup can be made: $!");

sub stat_of {
	my (@command) = @_;

	unlink("$dir/stat");
	my $out = qx{$schedtap stat --json -o $dir/stat @command 2>$dir/err};
	return { code => $? >> 8, out => $out, json => -e "$dir/stat" ? decode_json(slurp("$dir/stat")) : {} };
}

# ---- numbers ----

# Command lines that print what the kernel counted, and what else they do: run time in ns, and switches.
my @cases = (
	['a process', "$load $cgroup 4000 1000 1", 40e6, 60],
	['children, while others run', "taskset -c 0 sh -c '$load $cgroup 4000 1000 1 & $load $cgroup/below 1000 2000 1 & wait'", 120e6, 160],
);
for (@cases) {
	my ($name, $command, $more_ns, $more) = @$_;
	my $hog = fork() // die "fork: $!\n";

	if (!$hog) {
		exec('taskset', '-c', '0', 'sh', '-c', 'while :; do :; done');
	}
	my $s = stat_of('--', $command);
	kill('KILL', $hog);
	waitpid($hog, 0);
	my @kernel = map { decode_json($_) } split(/\n/, $s->{out});
	my %least = map { my $key = $_; $key => sum0(map { $_->{$key}[1] } @kernel) } qw(run_ns waking preempted wait_ns);
	my $j = $s->{json};
	my $waits = sum0(map { $_->{count} } values(%{ $j->{waits} })) + sum0(values(%{ $j->{censored} }));
	my $waited = sum0(map { $_->{sum_ns} } values(%{ $j->{waits} }));
	my $switches = $least{waking} + $least{preempted};

	is($s->{code}, 0, "$name: exit code") or diag(slurp("$dir/err"));
	# some machines hide switches from tasks of a container's own
	ok($waits >= $switches - 20 && $waits <= $switches + $more, "$name: $waits waits, the kernel counts $switches of its loads");
	ok($j->{run_ns} >= 0.98 * $least{run_ns} - 10e6 && $j->{run_ns} <= $least{run_ns} + $more_ns, "$name: ran $j->{run_ns} ns, the kernel says $least{run_ns}");
	ok($waited >= 0.9 * $least{wait_ns} - 20e6 && $waited <= 1.1 * $least{wait_ns} + 100e6, "$name: waited $waited ns, the kernel says $least{wait_ns}");
	is(sum0(map { $_->{ns} } @{ $j->{culprits} }), $waited, "$name: culprits add up to the waits");
	cmp_ok($j->{elapsed_ns}, '>=', 1e9, "$name: elapsed");
}

# What is not the command's is not counted.
is(stat_of('sleep', 0.5)->{json}{run_ns} < 50e6, 1, 'what runs beside it is not counted');

# ---- ends ----

is(stat_of('--', 'sh', '-c', '"exit 7"')->{code}, 7, 'exit code of the command');
is(stat_of('--', 'sh', '-c', q('kill -TERM $$'))->{code}, 143, 'killed by a signal');
is(stat_of("$dir/nothing")->{code}, 127, 'no such command');
ok(!-e "$dir/stat", 'which has no numbers');
is(stat_of("$dir")->{code}, 126, 'no program');
is(system("$schedtap stat >/dev/null 2>&1") >> 8, 2, 'no command');
is(system("$schedtap stat -o /nonexistent/x true >/dev/null 2>&1") >> 8, 1, 'a file that cannot be written');

my $text = `$schedtap stat true 2>&1 >/dev/null`;
like($text, qr/^true:\n +\d.* elapsed\n +\d.* ran, on [\d.]+ CPUs\n/, 'text');
my $pid = fork() // die "fork: $!\n";
if (!$pid) {
	setpgrp(0, 0);
	open(STDERR, '>', "$dir/text");
	exec($schedtap, 'stat', 'sleep', 60);
}
select(undef, undef, undef, 0.05) until `ps --ppid $pid -o comm=` =~ /sleep/;
kill('-INT', $pid);
waitpid($pid, 0);
is($? >> 8, 130, 'Ctrl-C ends the command');
like(slurp("$dir/text"), qr/^sleep 60:\n/, 'and its numbers are printed');
done_testing();
