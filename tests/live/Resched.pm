# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Checks of __schedule() as recorded by sched_entry and sched_exit, with sched_switch between them: used
# on this machine and in guests.
package Resched;
use strict;
use warnings;
use Exporter qw(import);
use Test::More;
our @EXPORT = qw(check_resched check_stages);

# Return: the violations of the order sched_entry, at most one sched_switch, sched_exit in the events of
# one CPU. @events: [name, fields], with the pid of the running task among the fields. %$seen: tasks with
# a sched_entry. A kernel may hide tasks from tracing: after a switch to a task without one, any exit is
# accepted.
sub errors_of {
	my ($events, $nr, $seen) = @_;
	my ($inside, $next, @errors);

	for my $e (@$events) {
		my ($name, $f) = @$e;

		if ($name eq 'sched_entry') {
			push(@errors, "entry in $f->{pid}, after another in $inside") if defined $inside;
			($inside, $next) = ($f->{pid}, undef);
		} elsif ($name eq 'sched_switch') {
			push(@errors, "switch from $f->{prev_pid} within " . ($inside // 'nothing'))
				if ($inside // -1) != $f->{prev_pid};
			$next = $f->{next_pid};
		} else {
			my $hidden = defined $next && !$seen->{$next};

			push(@errors, "exit in $f->{pid}, is_switch=$f->{is_switch}: " . (defined $next ? "a switch to $next" : 'no switch'))
				if !$hidden && (!defined $inside || $f->{is_switch} != defined $next || $f->{pid} != ($next // $inside));
			$nr->{$f->{is_switch} ? 'switched' : 'stayed'}++;
			undef $inside;
		}
	}
	return @errors;
}

# Programs are attached and detached one by one: from the first exit that has the three before it to where the first of them ends.
sub between {
	my ($events) = @_;
	my (%first, %last);

	for my $i (0 .. $#$events) {
		$first{$events->[$i][0]} //= $i;
		$last{$events->[$i][0]} = $i;
	}
	return if keys(%first) < 3;
	my ($from) = sort { $b <=> $a } values %first;
	my ($to) = sort { $a <=> $b } values %last;
	$from++ while $from < $to && $events->[$from][0] ne 'sched_exit';
	return @$events[$from + 1 .. $to];
}

# @text: what `dump --json` prints of the three.
sub check_resched {
	my ($text, $least) = @_;
	my (%cpus, %nr, %seen);

	for my $line (split(/\n/, $text)) {
		my ($cpu, $event, $fields) = $line =~ /"cpu":(\d+).*"event":"\w+:(\w+)","fields":\{(.*)\}/ or next;

		push(@{$cpus{$cpu}}, [$event, { $fields =~ /"(\w+)":(-?\d+)/g }]);
		$seen{$cpus{$cpu}[-1][1]{pid}} = 1 if $event eq 'sched_entry';
	}
	my @errors = map { errors_of([between($cpus{$_})], \%nr, \%seen) } keys %cpus;

	note("__schedule(): $nr{switched} times with a switch, $nr{stayed} without") if $nr{switched} && $nr{stayed};
	cmp_ok($nr{switched} // 0, '>', $least, 'sched_exit after a switch');
	cmp_ok($nr{stayed} // 0, '>', 0, 'sched_exit without one');
	is(scalar(@errors), 0, 'sched_entry, a switch or none, sched_exit') or diag(map { "$_\n" } splice(@errors, 0, 10));
}

# The intervals of a recording without losses, from its text: { stage => [ns] }. Each CPU is looked at by itself, backwards:
# from what ends a stage to the nearest event that begins it. What lies outside the window does not count: not all of it was
# being recorded.
sub stages {
	my ($text, $window) = @_;
	my (%cpus, %stages);

	for my $line (split(/\n/, $text)) {
		my ($ns, $cpu, $event, $fields) =
			$line =~ /"ts_ns":(\d+).*"cpu":(\d+).*"event":"\w+:(\w+)","fields":\{(.*)\}/ or next;
		my %f = $fields =~ /"(\w+)":(-?\d+)/g;

		next if $ns < $window->[0] || $ns > $window->[1];
		push(@{$cpus{$f{cpu_id} // $cpu}}, { ns => $ns, name => $event, %f });
	}
	for my $events (values %cpus) {
		my $last = sub {
			my ($i, $names) = @_;
			$i-- while $i >= 0 && $events->[$i]{name} !~ /^(?:$names)$/;
			return $i < 0 ? undef : $events->[$i];
		};
		for my $i (1 .. $#$events) {
			my $e = $events->[$i];
			my ($stage, $from);

			if ($e->{name} eq 'sched_switch') {
				my $idle = $last->($i - 1, 'cpu_idle|sched_switch');

				$from = $last->($i - 1, 'sched_entry|sched_exit|sched_switch');
				push(@{$stages{pick}}, $e->{ns} - $from->{ns})
					if $from && $from->{name} eq 'sched_entry' && $from->{pid} == $e->{prev_pid};
				push(@{$stages{idle_exit}}, $e->{ns} - $idle->{ns})
					if !$e->{prev_pid} && $idle && $idle->{name} eq 'cpu_idle' && $idle->{state} == 4294967295;
			} elsif ($e->{name} eq 'sched_exit') {
				$from = $last->($i - 1, 'sched_entry|sched_exit|sched_switch') or next;
				push(@{$stages{switch}}, $e->{ns} - $from->{ns})
					if $e->{is_switch} && $from->{name} eq 'sched_switch' && $from->{next_pid} == $e->{pid};
				push(@{$stages{stay}}, $e->{ns} - $from->{ns})
					if !$e->{is_switch} && $from->{name} eq 'sched_entry' && $from->{pid} == $e->{pid};
			}
		}
	}
	return \%stages;
}

# @dump: of all events, as `dump --json` prints them; @csv: what `resched --csv` prints; @window: [ns, ns], the recording's.
sub check_stages {
	my ($dump, $csv, $window) = @_;
	my $want = stages($dump, $window);
	my ($head, @rows) = split(/\n/, $csv);
	my %got;

	for my $row (@rows) {
		my %r;

		@r{split(/,/, $head)} = split(/,/, $row, -1);
		$got{$r{stage}} = \%r;
	}
	for my $stage (sort keys %$want) {
		my ($nr, $sum, $max) = (scalar(@{$want->{$stage}}), 0, 0);

		$sum += $_ for @{$want->{$stage}};
		$max = $_ > $max ? $_ : $max for @{$want->{$stage}};
		is(join(' ', map { $got{$stage}{$_} // 'none' } qw(count sum_ns max_ns)), "$nr $sum $max", "resched: $stage, $nr times");
	}
	is(join(' ', grep { !$want->{$_} } sort keys %got), '', 'resched: no other stage');
}

1;
