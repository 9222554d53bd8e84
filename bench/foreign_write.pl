# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: foreign_write.pl text|events|columns SWITCHES: a recording with as many switches and half as many wakings, on 8 CPUs, as text of
# ftrace, or as a Perfetto trace with a message for each event, or with switches and wakings in columns, as phones record.
use strict;
use warnings;
use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/../tests/foreign';
use Proto;

use constant { CPUS => 8, AT_ONCE => 1000 };

my ($form, $left) = @ARGV;
my @now = (1_000_000_000_000) x CPUS;
my @at = (0) x CPUS;

binmode(STDOUT);

# The next switches and wakings of a CPU: [switches, wakings]. It goes from idle to a task, and from that to idle.
sub next_rows {
	my ($cpu) = @_;
	my (@switches, @wakings);

	for my $i (1 .. AT_ONCE) {
		my $from = $at[$cpu];
		my $to = $i & 1 ? 1000 + int(rand(64)) : 0;

		$now[$cpu] += 5000 + int(rand(40_000));
		push(@wakings, [$now[$cpu] - 2000, $to, $cpu, $from]) if $to;
		push(@switches, [$now[$cpu], $from ? 1 : 0, $to, $from]);
		$at[$cpu] = $to;
	}
	return (\@switches, \@wakings);
}

sub line {
	my ($ts, $cpu, $tid, $text) = @_;

	return sprintf("%16s-%-7d [%03d] d..2. %d.%06d: %s\n", $tid ? "task $tid" : '<idle>', $tid, $cpu, $ts / 1e9, $ts / 1e3 % 1e6, $text);
}

sub comm { return $_[0] ? "task $_[0]" : 'swapper' }

sub text_of {
	my ($cpu, $switches, $wakings) = @_;
	my @events = map { [$_->[0], $_->[3], "sched_switch: prev_comm=@{[comm($_->[3])]} prev_pid=$_->[3] prev_prio=120 prev_state=@{[$_->[1] ? 'S' : 'R']} " .
			"==> next_comm=@{[comm($_->[2])]} next_pid=$_->[2] next_prio=120"] } @$switches;

	push(@events, map { [$_->[0], $_->[3], "sched_waking: comm=task $_->[1] pid=$_->[1] prio=120 target_cpu=00$cpu"] } @$wakings);
	return map { line($_->[0], $cpu, @$_[1, 2]) } sort { $a->[0] <=> $b->[0] } @events;
}

sub messages_of {
	my ($switches, $wakings) = @_;
	my @events = map { [$_->[0], switch(@$_[0, 3, 1, 2])] } @$switches;

	push(@events, map { [$_->[0], waking(@$_[0, 3, 1, 2])] } @$wakings);
	return map { @$_[1 .. $#$_] } sort { $a->[0] <=> $b->[0] } @events;
}

srand(1);
print "# tracer: nop\n#\n" if $form eq 'text';
while ($left > 0) {
	for my $cpu (0 .. CPUS - 1) {
		my ($switches, $wakings) = next_rows($cpu);

		print $form eq 'text' ? text_of($cpu, $switches, $wakings) : bundle($cpu, $form eq 'events' ? messages_of($switches, $wakings) : compact($switches, $wakings));
		$left -= AT_ONCE;
	}
}
