# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What really happened in a simulated schedule: logs of what changed, and when. A log is [[ns, value], ...] in time order; a value holds until
# the next change. The oracles read nothing else of the simulation but its events.
#
#   tasks{tid}      state: running, preempted, waking, throttled, sleep, blocked, stopped, none (before its life and after it)
#   queues{tid}     the CPU in whose run queue the task is; while it sleeps, the one where it was last
#   placing{tid}    1 while the task is being woken and no CPU was chosen
#   may{tid}        the CPUs that the task may use, as a list
#   listed{tid}     1 if the recording lists them
#   class{tid}      stop, deadline, realtime or fair
#   seen{tid}       ns of the first event that proves the task's state
#   runs{cpu}       tid of the running task, 0: idle
#   prios{tid}      priority, as in sched_switch
#   irqs{cpu}       the open interrupt handlers, such as "irq softirq", the innermost last
#   sleeps{cpu}     1 while the CPU is in an idle state, else 0
#   idle_seen{cpu}  ns of the first event of an idle state after the CPU's first switch
#   asked{cpu}      'hard' or 'lazy' while a reschedule is requested
#   switched{cpu}   ns of the CPU's first switch
#   origin{cpu}     tid of the task that ran until then, if that switch proves that it had run since the recording began (docs/answers.md)
#   known{cpu}      ns since when it is known what the CPU ran
#   flags{how}      ns of the first request of a kind
#   wakeups         { ns, cpu, tid, waker, from, irq }: wakeups that ended a sleep; irq: the open handler
package Truth;
use strict;
use warnings;

sub new {
	my ($class, $from, $to) = @_;

	return bless { from => $from, to => $to, wakeups => [], map { $_ => {} } qw(tasks queues placing may listed class seen runs prios irqs sleeps asked switched origin known idle_seen flags) }, $class;
}

# Log that KEY of the log WHAT is VALUE from NS on.
sub note {
	my ($self, $what, $key, $ns, $value) = @_;
	my $log = $self->{$what}{$key} //= [];

	return if @$log && $log->[-1][1] eq $value;
	pop(@$log) if @$log && $log->[-1][0] == $ns;
	push(@$log, [$ns, $value]);
}

# Note the first time of something.
sub first {
	my ($self, $what, $key, $ns) = @_;

	$self->{$what}{$key} //= $ns;
}

# What a report knows that reads all events. One with --time may read a part, and then knows of no CPU what it ran before its first switch.
sub of_whole {
	my ($self) = @_;
	my %seen = map { $_ => $self->{from} } values(%{$self->{origin}});
	my %known = map { $_ => $self->{from} } keys(%{$self->{origin}});

	return bless { %$self, seen => { %{$self->{seen}}, %seen }, known => { %{$self->{known}}, %known } }, ref($self);
}

# The value at NS, or undef before the first change.
sub at {
	my ($self, $what, $key, $ns) = @_;
	my $log = $self->{$what}{$key} // [];
	my ($low, $high) = (0, scalar(@$log));

	while ($low < $high) {
		my $middle = int(($low + $high) / 2);
		if ($log->[$middle][0] <= $ns) { $low = $middle + 1 } else { $high = $middle }
	}
	return $low ? $log->[$low - 1][1] : undef;
}

# When the value at NS began.
sub since {
	my ($self, $what, $key, $ns) = @_;

	return (grep { $_->[0] <= $ns } @{$self->{$what}{$key}})[-1][0];
}

# A log as intervals within a window: [[from, to, value], ...].
sub intervals {
	my ($self, $what, $key, $from, $to) = @_;
	my $log = $self->{$what}{$key} // [];
	my @intervals;

	for my $i (0 .. $#$log) {
		my $begin = $log->[$i][0] > $from ? $log->[$i][0] : $from;
		my $end = $i < $#$log && $log->[$i + 1][0] < $to ? $log->[$i + 1][0] : $to;
		push(@intervals, [$begin, $end, $log->[$i][1]]) if $begin < $end;
	}
	return @intervals;
}

# A task's states within a window, as an exact observer of a complete recording knows them: 'unknown' before the first event that proves one, and
# while a task sleeps that was moved meanwhile and not woken.
sub known_states {
	my ($self, $tid, $from, $to) = @_;
	my $seen = $self->{seen}{$tid} // $self->{to};
	my @states;

	for ($self->intervals('tasks', $tid, $from, $to)) {
		my ($begin, $end, $state) = @$_;
		next if $state eq 'none';
		$state = 'unknown' if $end == $to && $state =~ /sleep|blocked|stopped/ && $self->intervals('queues', $tid, $self->since('tasks', $tid, $begin), $to) > 1;
		if ($begin < $seen) {
			my $until = $end < $seen ? $end : $seen;
			if (@states && $states[-1][2] eq 'unknown') { $states[-1][1] = $until } else { push(@states, [$begin, $until, 'unknown']) }
			$begin = $until;
		}
		push(@states, [$begin, $end, $state]) if $begin < $end;
	}
	return @states;
}

1;
