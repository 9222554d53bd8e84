#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a perf.data says in other records than samples of tracepoints, as the installed perf writes it: switches by
# `perf record --switch-events`, against sched_switch events of the same recording; stacks by `perf record -g`, against
# perf script. SCHEDTAP names the program.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::XS qw(decode_json);
use lib dirname(__FILE__) . '/..';
use Busy;

my $here = dirname(abs_path($0));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
if ($> != 0 || system('command -v perf >/dev/null')) {
	print '1..0 # SKIP ', $> ? 'not root' : 'no perf', "\n";
	exit 0;
}
my $tmp = tempdir(CLEANUP => 1);
chdir($tmp) or die;
my ($n, $failed) = (0, 0);

# Three tasks that spin and sleep, named as no others; each is born and dies in the recording.
my $load = <<'END';
use Time::HiRes qw(time usleep);
for my $i (1 .. 3) {
	next if fork;
	$0 = "perfdata_$i";
	for (1 .. 100) {
		my $until = time + 0.0005 * $i;
		1 while time < $until;
		usleep(500);
	}
	exit 0;
}
1 while wait > 0;
END

# check NAME, PROBLEM...: one TAP line.
sub check {
	my ($name, @problems) = @_;

	$n++;
	$failed++ if @problems;
	print @problems ? 'not ok ' : 'ok ', "$n - $name\n";
	splice(@problems, 10) if @problems > 10;
	print STDERR map { "#   $_\n" } @problems;
}

sub skip {
	my ($name, $why) = @_;

	$n++;
	print "ok $n - $name # SKIP $why\n";
}

# check() for times that agree only if perf is not delayed between two time stamps or at a task's exit:
# on a busy machine a failure is a skip.
sub check_if_quiet {
	my ($since, $name, @problems) = @_;
	my $why = @problems ? why_busy($since) : '';

	return $why ? skip($name, "machine was busy: $why") : check($name, @problems);
}

sub perf_record {
	return !system('sh', '-c', 'exec "$@" >perf.out 2>&1', 'sh', 'timeout', 60, qw(perf record), @_);
}

sub start { open(my $out, '-|', $schedtap, @_) or die "$schedtap: $!\n"; return $out }

# What schedtap printed.
sub lines {
	my @cmd = @_;
	my $out = start(@cmd);
	my @lines = <$out>;
	close($out) or die "@cmd: status $?\n";
	return @lines;
}

sub json { decode_json(join('', lines(@_, '--json'))) }

# States of the load's tasks, by tid.
sub states {
	my ($file) = @_;
	my $json = json('states', '-i', $file);
	my %tasks = map { $_->{tid} => $_ } grep { $_->{comm} =~ /^perfdata_/ } @{$json->{tasks}};

	return ($json->{recording}{lost}, \%tasks);
}

# The file without its sched_switch events: their format has another name.
sub hide_sched_switch {
	my ($from, $to) = @_;

	open(my $in, '<:raw', $from) or die "$from: $!\n";
	local $/;
	my $bytes = <$in>;
	die "no sched_switch in $from\n" if $bytes !~ s/name: sched_switch\n/name: sched_hidden\n/;
	open(my $out, '>:raw', $to) or die "$to: $!\n";
	print $out $bytes;
	close($out) or die "$to: $!\n";
}

# What differs between the states of tasks by SWITCH records, and by sched_switch. Both are stamped in one switch, one
# after the other: an interrupt may come between. Before its first switch a task is unknown to both. What is hidden from
# the events is unknown there: as much more than that the records may say.
sub compare {
	my ($by_switch, $by_event, $within_ns) = @_;
	my @problems;

	for my $tid (sort keys %$by_event) {
		my ($got, $want) = ($by_switch->{$tid}, $by_event->{$tid});

		if (!$got) {
			push(@problems, "$tid is missing");
			next;
		}
		for my $what (qw(run preempted sleep)) {
			my ($x, $y) = map { $_->{"${what}_ns"} + ($what eq 'sleep' ? $_->{blocked_ns} : 0) } $got, $want;

			push(@problems, "$tid: $what $x ns by SWITCH records, $y ns by sched_switch")
				if $y > $x + $within_ns || $x > $y + $want->{unknown_ns} + $within_ns;
		}
	}
	push(@problems, 'only ' . keys(%$by_event) . ' of 3 tasks') if keys(%$by_event) != 3;
	return @problems;
}

sub whole_cpus {
	my $name = 'of whole CPUs, SWITCH records say what sched_switch says';
	my $since = busy_since();

	if (!perf_record(qw(-a -m 8M -e sched:sched_switch --switch-events -o both.data -- perl -e), $load)) {
		return skip($name, 'perf does not record switches');
	}
	hide_sched_switch('both.data', 'switches.data');
	my ($lost, $by_event) = states('both.data');
	return skip($name, 'perf lost events') if $lost;
	check_if_quiet($since, $name, compare((states('switches.data'))[1], $by_event, 2e6));
	my ($row) = grep { defined($_->{run_ns}) } map { decode_json($_) } lines(qw(timehist -i switches.data -c perfdata_1 --json));
	check('of a task without a priority none is shown', !$row || defined($row->{prio}) ? 'there is one, or no row' : ());
}

# The recording of whole CPUs goes on meanwhile. Of a task itself the other one is not known: CPUs are unknown between.
sub single_tasks {
	my $name = 'of single tasks, SWITCH records say what sched_switch says';
	my $since = busy_since();

	if (!perf_record(qw(-a -m 8M -e sched:sched_switch -o all.data --), qw(perf record -o one.data --switch-events
			 --sample-cpu -T -e dummy -- perl -e), $load)) {
		return skip($name, 'perf does not record switches');
	}
	my ($lost, $by_event) = states('all.data');
	my ($lost_of_one, $by_switch) = states('one.data');
	return skip($name, 'perf lost events') if $lost || $lost_of_one;
	# the last that is said of a task is its exit: it may be preempted after that
	check_if_quiet($since, $name, compare($by_switch, $by_event, 20e6));
}

# Of the load's tasks, by time in us, CPU and tid: the frames of each switch, innermost first. Of the kernel a name, of programs "FILE+0xOFFSET".
sub perf_stacks {
	my ($file) = @_;
	my (%stacks, $now);

	open(my $out, '-|', "perf script -i $file --no-inline -F comm,tid,cpu,time,event,ip,sym,dso 2>/dev/null") or die "perf: $!\n";
	while (<$out>) {
		if (/^\s*(.*?) +(-?\d+) \[0*(\d+)\] +(\d+\.\d+): +sched:sched_switch:/) {
			my ($comm, $key) = ($1, "$4 $3 $2");

			$now = [];
			$stacks{$key} = $now if $comm =~ /^perfdata_/;
		} elsif (/^\s+([0-9a-f]+) (.*) \((.*)\)$/) {
			my ($at, $name, $file) = ($1, $2, $3);

			push(@$now, $file =~ /^\[(kernel|guest)/ ? $name : $file eq '[unknown]' ? "0x$at" : $file =~ s{.*/}{}r . "+0x$at");
		}
	}
	close($out);
	return \%stacks;
}

sub our_stacks {
	my ($file) = @_;
	my (%stacks, %last);
	my $out = start(qw(dump --json -i), $file);

	# a busy machine has many other switches: their lines are not decoded
	while (<$out>) {
		my ($cpu) = /"cpu":(\d+)/ or next;

		if (/"event":"sched:sched_switch"/) {
			$last{$cpu} = undef;
			next if !/"comm":"perfdata_/;
			my $e = decode_json($_);
			next if $e->{comm} !~ /^perfdata_/;
			$last{$cpu} = $stacks{sprintf('%d.%06d', $e->{ts_ns} / 1e9, $e->{ts_ns} / 1000 % 1e6) . " $cpu $e->{tid}"} = [];
		} elsif ($last{$cpu} && /"frames"/) {
			push(@{$last{$cpu}}, @{decode_json($_)->{fields}{frames} // []});
		}
	}
	close($out) or die "dump: status $?\n";
	return \%stacks;
}

sub stacks {
	my $name = 'stacks of perf script are those of dump';
	my @problems;

	if (!perf_record(qw(-a -g -m 8M -e sched:sched_switch -o chains.data -- perl -e), $load)) {
		return skip($name, 'perf does not record callchains');
	}
	my ($theirs, $ours) = (perf_stacks('chains.data'), our_stacks('chains.data'));
	for (sort keys %$theirs) {
		my ($x, $y) = map { join(' ', @{$_ // ['none']}) } $ours->{$_}, $theirs->{$_};

		push(@problems, "$_: ours $x, perf's $y") if $x ne $y;
	}
	push(@problems, 'only ' . keys(%$theirs) . ' switches') if keys(%$theirs) < 100;
	# a task that is renamed between two switches has another name for perf at the first: of three tasks, one each
	push(@problems, keys(%$ours) . ' switches, and not ' . keys(%$theirs)) if abs(keys(%$ours) - keys(%$theirs)) > 3;
	check($name, @problems);
	my @folded = lines(qw(export --to folded -i chains.data));
	check('export --to folded has them', grep(/^perfdata_1;.*;(?:__schedule|__traceiter_sched_switch) \d+$/, @folded) ? () : 'no stack of perfdata_1 ends in __schedule');
}

whole_cpus();
single_tasks();
stacks();
print "1..$n\n";
exit($failed ? 1 : 0);
