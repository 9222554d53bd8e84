# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A recording of a schedule from which events are lost, and what reports must say of it: they may say unknown, but what they say must be true, and
# bounds must contain the truth.
package Losses;
use strict;
use warnings;
use List::Util qw(max min sum0);
use Check;
use Critical;
use Explain;

my %state = (run => 'running', map { $_ => $_ } qw(preempted waking throttled sleep blocked stopped));

# ---- the recording ----

# The schedule as it is recorded with one to three losses.
sub lossy {
	my ($schedule) = @_;
	my @events = @{$schedule->{events}};

	@events = lose(int(rand($schedule->{nr_cpus})), @events) for 1 .. 1 + int(rand(3));
	return bless { %$schedule, events => \@events }, ref($schedule);
}

# Lose one to six events of a CPU, and those of the same times. The recorder says so in place of the last one; the count may be unknown.
sub lose {
	my ($cpu, @events) = @_;
	my @mine = grep { $_->{cpu} == $cpu } @events or return @events;
	my $first = int(rand(@mine));
	my ($from, $to) = map { $_->{ns} } @mine[$first, min($#mine, $first + int(rand(6)))];
	my %lost = map { $_ => 1 } my @lost = grep { $from <= $_->{ns} && $_->{ns} <= $to } @mine;
	my %loss = (cpu => $cpu, tid => 0, from => $from, ns => $to, name => 'lost', fields => '', count => rand() < 0.7 ? scalar(@lost) : 0);

	return @events if grep { $_->{name} eq 'lost' } @lost;
	return @events if !grep { !$lost{$_} && $_->{name} =~ /switch/ } @events; # reports refuse that
	return map { $_ == $lost[-1] ? \%loss : $lost{$_} ? () : $_ } @events;
}

# ---- what reports may say ----

sub questions {
	my ($schedule, $window) = @_;

	return (question('states', sub { map { task($schedule, $window, $_) } @{$_[0]{tasks}} }),
		question('explain --worst 10000', sub { map { wait_of($schedule, $_) } @{$_[0]{waits}} }),
		(map { my $tid = $_; question("critical -t $tid --path", sub { path($schedule, $tid, $window, $_[0]{path}) }) }
			Critical::tids($schedule, $window)));
}

# A question about a report, of which WRONG returns what is wrong. Three of these are enough. There may be no report: of a task whose events are
# all lost, or of a window without a switch.
sub question {
	my ($args, $wrong) = @_;

	return { args => "$args --json", status => [0, 1], shape => sub { $_[0] },
		want => sub { my @wrong = $wrong->($_[0]); return join('; ', @wrong[0 .. min(2, $#wrong)]) } };
}

# A task's time in each state, with the time in unknown states, contains the true time; and its longest intervals are true.
sub task {
	my ($schedule, $window, $row) = @_;
	my @true = $schedule->{truth}->intervals('tasks', $row->{tid}, @$window);
	my @wrong;

	for my $key (sort(keys(%state))) {
		my $ns = sum0(map { $_->[1] - $_->[0] } grep { $_->[2] eq $state{$key} } @true);
		my $got = $row->{"${key}_ns"} // next;
		push(@wrong, "task $row->{tid}: ${key}_ns $got of $ns") if $got > $ns || $got + $row->{unknown_ns} < $ns;
		my $longest = $row->{longest}{$key} // next;
		push(@wrong, "task $row->{tid}: $key from $longest->{at_ns} for $longest->{ns}")
			if !is_all($schedule, $row->{tid}, $longest->{at_ns}, $longest->{at_ns} + $longest->{ns}, $state{$key});
	}
	return @wrong;
}

# Whether a task was in one of these states all the time.
sub is_all {
	my ($schedule, $tid, $from, $to, @states) = @_;
	my %is_one = map { $_ => 1 } @states;

	return !grep { !$is_one{$_->[2]} } $schedule->{truth}->intervals('tasks', $tid, $from, $to);
}

# A wait is true, or said not to be whole; and its components are true, but for unknown ones.
sub wait_of {
	my ($schedule, $wait) = @_;
	my $is_true = is_all($schedule, @$wait{qw(tid from_ns to_ns)}, qw(waking preempted throttled));

	return ($wait->{whole} && !$is_true ? "wait of $wait->{tid} from $wait->{from_ns}: whole" : (),
		map { component($schedule, $wait, $_) } grep { $_->{kind} ne 'unknown' } @{$wait->{pieces}});
}

# A component is of the kind and the task that the wait is of where the component begins.
sub component {
	my ($schedule, $wait, $piece) = @_;
	my ($kind, $runs) = Explain::component($schedule, $wait->{tid}, $piece->{from_ns});
	my $got = "$piece->{kind} " . ($piece->{tid} // '');
	my $true = "$kind " . ($runs // '');

	return $got eq $true || is_less_specific($got, $true) ? () : "wait of $wait->{tid} from $wait->{from_ns}: at $piece->{from_ns} $got, not $true";
}

# A request or an idle state may have no event that is left.
sub is_less_specific {
	my ($got, $true) = @_;
	my %for = (queued => 'resched|lazy', lower => 'resched|lazy', resched => 'lazy', idle => 'idle_state|idle_exit');
	my ($kind, $runs) = split(/ /, $got, 2);

	return $true =~ /^unknown/ || ($for{$kind} && $true =~ /^(?:$for{$kind}) \Q$runs\E$/);
}

# Each known step of a critical path is one of the true path. The kind of an interrupt may be unknown.
sub path {
	my ($schedule, $tid, $window, $got) = @_;
	my @true = grep { $_->[3] ne 'unknown' } Critical::path($schedule, $tid, @$window);
	my @wrong;

	for my $step (grep { $_->{state} ne 'unknown' } @$got) {
		my $state = $step->{state} =~ /interrupt|blocked/ ? qr/interrupt|blocked|disk|network|timer/ : qr/$step->{state}/;
		for (grep { $_->[0] < $step->{to_ns} && $_->[1] > $step->{from_ns} } @true) {
			push(@wrong, 'at ' . max($_->[0], $step->{from_ns}) . " $step->{tid} $step->{state}, not $_->[2] $_->[3]")
				if $_->[2] != $step->{tid} || $_->[3] !~ $state;
		}
	}
	return @wrong;
}

# Bounds contain the truth. No value is known. Of a window no man page says how much of a wait counts whose beginning is before it and lost.
sub check {
	my ($schedule) = @_;
	my $window = [$schedule->{from}, $schedule->{to}];
	my @metrics = map { { %$_, truth => $_->{truth} // $_->{value}, value => undef } }
		grep { $_->{metric} =~ /^(?:latency|summary.run)/ } Check::metrics($schedule, $window);

	return Check::question(@metrics);
}

1;
