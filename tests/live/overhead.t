#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The overhead that a recording states, while another program has BPF statistics on, and beside another recorder: the two figures agree
# with the number of events, no share is above 100 %, and on a quiet machine the share is the one that the kernel's own account gives.
use strict;
use warnings;
use Cwd qw(abs_path);
use Fcntl qw(LOCK_EX);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX ();
use Test::More;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);
use lib dirname(__FILE__) . '/..';
use Busy;

my $sysctl = '/proc/sys/kernel/bpf_stats_enabled';
my $record_s = 3.2; # with samples after 20 ms, 1 s and 3 s
my $factor = 4; # three samples of a steady load are this near to the whole

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $dir = tempdir(CLEANUP => 1);
my $cpus = POSIX::sysconf(84); # _SC_NPROCESSORS_ONLN, which perl does not name
my @pids;

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;
plan(skip_all => "no $sysctl") if !-e $sysctl;
END { my $status = $?; kill('KILL', @pids); $? = $status }

sub write_file {
	my ($file, $text) = @_;

	open(my $f, '>', $file) or die "$file: $!\n";
	syswrite($f, $text) or die "$file: $!\n";
}

# Return: ends it. However this test ends, a process of its own session then sees the end of the pipe, and restores the sysctl.
sub statistics_on {
	open(my $f, '<', $sysctl) or die "$sysctl: $!\n";
	flock($f, LOCK_EX) or die "$sysctl: $!\n"; # another run of this test would restore what this one has set
	my $was = <$f>;
	pipe(my $ends, my $alive) or die "pipe: $!\n";
	my $pid = fork() // die "fork: $!\n";

	if (!$pid) {
		POSIX::setsid();
		close($alive);
		open($_, '>', '/dev/null') for *STDOUT, *STDERR;
		<$ends>;
		write_file($sysctl, $was);
		POSIX::_exit(0);
	}
	write_file($sysctl, 1);
	return sub { close($alive); waitpid($pid, 0) };
}

sub run_in_background {
	my (@command) = @_;
	my $pid = fork() // die "fork: $!\n";

	if (!$pid) {
		exec(@command) or POSIX::_exit(127);
	}
	push(@pids, $pid);
	return $pid;
}

sub start {
	my ($name, @options) = @_;
	my $r = { name => $name, file => "$dir/$name.dat", forked_s => clock_gettime(CLOCK_MONOTONIC) };

	$r->{pid} = fork() // die "fork: $!\n";
	if (!$r->{pid}) {
		open(STDERR, '>', "$r->{file}.err");
		exec($schedtap, 'record', '-b', 'bpf', '-o', $r->{file}, @options) or POSIX::_exit(127);
	}
	push(@pids, $r->{pid});
	return $r;
}

sub wait_for_start {
	my ($r) = @_;

	sleep(0.02) until -e "$r->{file}.spool/meta.json" || waitpid($r->{pid}, POSIX::WNOHANG());
}

# Run time of the programs that a recorder holds, ns.
sub programs_ns {
	my ($r) = @_;
	my %ns;

	for my $file (glob "/proc/$r->{pid}/fdinfo/*") {
		open(my $f, '<', $file) or next;
		my $text = join('', <$f>);

		$ns{$1} = $2 if $text =~ /^prog_id:\s*(\d+).*^run_time_ns:\s*(\d+)/ms;
	}
	my $sum = 0;
	$sum += $_ for values(%ns);
	return $sum;
}

sub end {
	my ($r) = @_;

	kill('INT', $r->{pid});
	waitpid($r->{pid}, 0);
	is($?, 0, "$r->{name}: recorded") or diag(`cat $r->{file}.err`);
	$r->{life_s} = clock_gettime(CLOCK_MONOTONIC) - $r->{forked_s};
	my $summary = decode_json(scalar(`$schedtap summary --json -i $r->{file}`));
	$r->{price} = $summary->{price};
	$r->{window_s} = ($summary->{recording}{end_ns} - $summary->{recording}{start_ns}) / 1e9;
}

# What holds at any load. The figures are of the time from attaching the first program to detaching the last one:
# a bit longer than the recording's window.
sub check_figures {
	my ($r) = @_;
	my ($price, $name) = @$r{qw(price name)};

	SKIP: {
		skip("$name: the recorder had too little time for samples", 4) if !defined($price->{probe_cpu_pct});
		cmp_ok($price->{probe_cpu_pct}, '<=', 100, "$name: share of CPUs");
		cmp_ok($price->{recorder_cpu_pct}, '<=', 100, "$name: share of CPUs, recorder");
		my $cpus_s = $price->{probe_cpu_pct} / 100 * $cpus;
		cmp_ok($price->{ns_per_event} * ($price->{events} + $price->{lost}) / 1e9, '>=', $cpus_s * $r->{window_s} * 0.9999,
		       "$name: figures agree with the events");
		cmp_ok($price->{ns_per_event} * $price->{events} / 1e9, '<=', $cpus_s * $r->{life_s} * 1.0001, '.. from above, too');
	}
}

# @true_pct: what @by says.
sub check_share {
	my ($r, $by, $true_pct, $since) = @_;
	my $pct = $r->{price}{probe_cpu_pct} // 0;
	note(sprintf('%s: stated %.2f %%, %s %.2f %%', $r->{name}, $pct, $by, $true_pct));
	my $is_near = $pct < $true_pct * $factor && $true_pct < $pct * $factor;

	SKIP: {
		my $why = $is_near ? '' : why_busy($since);

		skip("machine was busy: $why", 1) if $why;
		ok($is_near, "$r->{name}: share is as $by, within a factor of $factor");
	}
}

# A process that wakes up 1000 times a second is recorded; the two that wake each other all the time are not.
my $victim = run_in_background($^X, '-e', '$0 = "victim"; open(my $comm, ">", "/proc/self/comm") or die; syswrite($comm, "victim");
	close($comm); select(undef, undef, undef, 0.001) while 1');
run_in_background($^X, '-e', 'pipe(my $a, my $b); pipe(my $c, my $d); my $is_first = fork(); ($a, $b, $c, $d) = ($c, $d, $a, $b) if !$is_first;
	close($a); close($d); $SIG{PIPE} = "IGNORE"; syswrite($b, "x") if $is_first; while (sysread($c, my $x, 1)) { syswrite($b, $x) or last }');

my ($cgroup) = do { local @ARGV = "/proc/$victim/cgroup"; join('', <>) =~ /^0::(.*)/m };
my %options = (p => ['-p', $victim], c => ['-c', 'victim'], g => ['-g', $cgroup // '/'], all => [qw(-e sched_switch -e sched_waking)]);

# beside others' statistics, which count all the time: what they say is true
my $since = busy_since();
my $statistics_off = statistics_on();
my @recorders = map { start($_, @{ $options{$_} }) } sort(keys(%options));
wait_for_start($_) for @recorders;
$_->{before} = [clock_gettime(CLOCK_MONOTONIC), programs_ns($_)] for @recorders;
sleep($record_s);
for my $r (@recorders) {
	my ($s, $ns) = (clock_gettime(CLOCK_MONOTONIC), programs_ns($r));

	$r->{true_pct} = ($ns - $r->{before}[1]) / 1e7 / ($s - $r->{before}[0]) / $cpus;
}
end($_) for @recorders;
$statistics_off->();
for my $r (@recorders) {
	check_figures($r);
	check_share($r, "by the kernel's account", $r->{true_pct}, $since);
}

# beside each other: each has statistics on for its samples, at other times than the other; both have the same to do
$since = busy_since();
my $one = start('one', @{ $options{p} });
sleep(0.3);
my $two = start('two', @{ $options{p} });
wait_for_start($_) for $one, $two;
sleep($record_s);
end($_) for $one, $two;
check_figures($_) for $one, $two;
check_share($one, 'by the other', $two->{price}{probe_cpu_pct} // 0, $since);

# too short for a sample
my $said = '';
my $r;
for (1 .. 5) {
	$said = `$schedtap record -b bpf -o $dir/short.dat -- true 2>&1`;
	$r = decode_json(scalar(`$schedtap summary --json -i $dir/short.dat`));
	last if !exists($r->{price}{probe_cpu_pct});
}
SKIP: {
	skip('machine was busy: true(1) took as long as a sample', 3) if exists($r->{price}{probe_cpu_pct});
	like($said, qr/^overhead: - ns per event, - % of all CPUs in the probes, [0-9.]+ % in the recorder$/m, 'too short: said by record');
	like(`$schedtap summary -i $dir/short.dat`, qr/^  probes   - ns per event, share of CPU - %$/m, 'too short: said by summary');
	is_deeply([grep { exists($r->{price}{$_}) } qw(ns_per_event probe_cpu_pct ns_per_run)], [], 'too short: not in JSON');
}

done_testing();
