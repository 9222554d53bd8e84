#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A recording limited to some tasks, beside one of everything at the same time: of its tasks it says what that one says, as far as either knows,
# and it gives others no time. In a soak ten times.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::XS;
use Test::More;
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Busy;
use Cgroups;
use Files;

my $apart_ns = 2e6; # by the stamps of two recorders, which look at the clock one after the other

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $dir = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;

# Two threads wait for a third, and work. The name is the process's and its threads'.
my $load = <<'END';
use threads;
open(my $comm, '>', '/proc/self/comm') or die;
print($comm $ARGV[0]);
close($comm);
pipe(my $in, my $out);
threads->create(sub { while (sysread($in, my $x, 1)) { my $n = 0; $n++ until $n == 20000 } }) for 1, 2;
print "ready\n";
close(STDOUT);
while (1) { syswrite($out, 'xx'); select(undef, undef, undef, 0.002) }
END

# However this test ends: perl waits for who writes to a pipe of its.
my @started;
END { my $status = $?; kill('KILL', @started); $? = $status }

# Return: its pid, once all threads are there.
sub begin {
	my ($name) = @_;
	my $pid = open(my $said, '-|', $^X, '-e', $load, $name) // die "perl: $!\n";

	push(@started, $pid);
	<$said>;
	return ($pid, $said);
}

# Convert the recording to what trace-cmd record -P (set_event_pid) writes: the file does not say which
# tasks it is limited to.
sub without_description {
	my ($file) = @_;

	system("trace-cmd convert --file-version 6 -i $file -o $file.6 >/dev/null 2>&1") == 0 or die "trace-cmd convert failed\n";
	rename("$file.6", $file) or die "$file: $!\n";
}

sub start {
	my ($file, @options) = @_;
	my $pid = fork() // die "fork: $!\n";

	if (!$pid) {
		open(STDERR, '>', "$file.err");
		exec($schedtap, 'record', '-b', 'bpf', '-e', 'sched', '-o', $file, @options) or die;
	}
	select(undef, undef, undef, 0.02) until -e "$file.spool/meta.json" || waitpid($pid, 1);
	return $pid;
}

sub says {
	my ($command, $file) = @_;

	return decode_json(scalar(`$schedtap $command --json -i $file`));
}

sub lost_some { return says('summary', $_[0])->{recording}{lost} }

# Of both the time in which both recorded.
sub tasks {
	my ($file, $window) = @_;

	return { map { $_->{tid} => $_ } @{ says("states --time $window", $file)->{tasks} } };
}

sub check_pair {
	my ($name, $is_limited, $meanwhile, @limit) = @_;
	my $since = busy_since();
	my $all = start("$dir/all.dat", '-e', 'sched');
	my $part = start("$dir/part.dat", @limit);

	$meanwhile->();
	for ($part, $all) {
		kill('INT', $_);
		waitpid($_, 0);
	}
	without_description("$dir/part.dat") if $name =~ /trace-cmd/;
	SKIP: {
		skip('machine was busy: events were lost', 3) if lost_some("$dir/part.dat") || lost_some("$dir/all.dat");
		my $r = says('summary', "$dir/part.dat")->{recording};
		my $window = "$r->{start_ns}ns,$r->{end_ns}ns";
		my ($whole, $limited) = (tasks("$dir/all.dat", $window), tasks("$dir/part.dat", $window));
		my ($ran, @wrong) = (0);
		for my $tid (sort keys %$limited) {
			my ($x, $y) = ($limited->{$tid}, $whole->{$tid});

			push(@wrong, "$tid ($x->{comm}) is none of its tasks") if !$is_limited->($x);
			$ran += $x->{run_ns};
			for (map { "${_}_ns" } qw(run waking preempted sleep blocked stopped)) {
				push(@wrong, "$tid: $_ is $x->{$_} (unknown $x->{unknown_ns}), of all it is $y->{$_} (unknown $y->{unknown_ns})")
					if $x->{$_} > $y->{$_} + $y->{unknown_ns} + $apart_ns || $y->{$_} > $x->{$_} + $x->{unknown_ns} + $apart_ns;
			}
		}
		my $why = @wrong ? why_busy($since) : '';
		skip("machine was busy: $why", 3) if $why;
		is_deeply(\@wrong, [], "$name: as all says");
		cmp_ok($ran, '>', 1e6, "$name: its tasks ran");
		is(system("$schedtap summary --check -i $dir/part.dat >/dev/null"), 0, "$name: all adds up");
	}
}

# Moves the whole process.
sub move_to { my ($folder, $pid) = @_; spew("$folder/cgroup.procs", $pid) }

# A task of the cgroup goes, another comes, and its processes make others.
sub move_about {
	my ($inside, $outside, $goes, $comes) = @_;

	nap(0.15);
	move_to($outside, $goes);
	move_to($inside, $comes);
	nap(0.2);
	move_to($inside, $goes);
	move_to($outside, $comes);
	nap(0.15);
}

sub nap { select(undef, undef, undef, $_[0]) }

my ($pid, $said) = begin('limited_a');
my ($other, $said_too) = begin('limited_b');
my $root = cgroup_mount();
my $cgroup = "$root/limited-$$";
my $forks = $root && mkdir($cgroup) ? fork() // die "fork: $!\n" : undef;
push(@started, $forks) if $forks;

if (defined($forks) && !$forks) {
	move_to($cgroup, $$);
	exec('/bin/sh', '-c', 'while :; do /bin/true; done') or die;
}
for my $round (1 .. ($ENV{SOAK} ? 10 : 1)) {
	check_pair('-t', sub { $_[0]{tid} == $pid }, sub { nap(0.5) }, '-t', $pid);
	check_pair('-p', sub { $_[0]{comm} eq 'limited_a' }, sub { nap(0.5) }, '-p', $pid);
	check_pair('-C', sub { 1 }, sub { nap(0.5) }, '-C', 0);
	check_pair('-c', sub { $_[0]{comm} eq 'limited_a' }, sub { nap(0.5) }, '-c', 'limited_a');
	SKIP: {
		skip('no trace-cmd, or no tracefs', 3) if system('command -v trace-cmd >/dev/null') || !-d '/sys/kernel/tracing/instances';
		my @tids = map { m{(\d+)$} } glob("/proc/$pid/task/*");
		check_pair('trace-cmd -P', sub { $_[0]{comm} eq 'limited_a' }, sub { nap(0.5) }, qw(-b tracefs), map { ('-t', $_) } @tids);
	}
	SKIP: {
		skip('no cgroup can be made', 3) if !$forks;
		move_to($cgroup, $pid);
		check_pair('-g', sub { $_[0]{comm} =~ /^(limited_.|sh|true)$/ }, sub { move_about($cgroup, $root, $pid, $other) }, '-g', "/limited-$$");
		move_to($root, $pid);
	}
}
for (grep { $_ } $forks, $pid, $other) {
	kill('KILL', $_);
	waitpid($_, 0);
}
nap(0.02) while $forks && !rmdir($cgroup); # what the shell ran last may be there still
done_testing();
