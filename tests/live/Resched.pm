# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# __schedule() as sched_entry and sched_exit tell it, with sched_switch between them: on this machine, and in guests.
package Resched;
use strict;
use warnings;
use Exporter qw(import);
use Test::More;
our @EXPORT = qw(check_resched);

# On one CPU: what does not follow on what. @events: [name, fields]; who ran is in them. @tells: tasks with an entry; a
# kernel may hide some from tracing, and after a switch to one is whatever comes then.
sub errors_of {
	my ($events, $nr, $tells) = @_;
	my ($inside, $next, @errors);

	for my $e (@$events) {
		my ($name, $f) = @$e;

		if ($name eq 'sched_entry') {
			push(@errors, "entry in $f->{pid}, behind another in $inside") if defined $inside;
			($inside, $next) = ($f->{pid}, undef);
		} elsif ($name eq 'sched_switch') {
			push(@errors, "switch from $f->{prev_pid} within " . ($inside // 'nothing'))
				if ($inside // -1) != $f->{prev_pid};
			$next = $f->{next_pid};
		} else {
			my $hidden = defined $next && !$tells->{$next};

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
	my (%cpus, %nr, %tells);

	for my $line (split(/\n/, $text)) {
		my ($cpu, $event, $fields) = $line =~ /"cpu":(\d+).*"event":"\w+:(\w+)","fields":\{(.*)\}/ or next;

		push(@{$cpus{$cpu}}, [$event, { $fields =~ /"(\w+)":(-?\d+)/g }]);
		$tells{$cpus{$cpu}[-1][1]{pid}} = 1 if $event eq 'sched_entry';
	}
	my @errors = map { errors_of([between($cpus{$_})], \%nr, \%tells) } keys %cpus;

	note("__schedule(): $nr{switched} times with a switch, $nr{stayed} without") if $nr{switched} && $nr{stayed};
	cmp_ok($nr{switched} // 0, '>', $least, 'sched_exit behind a switch');
	cmp_ok($nr{stayed} // 0, '>', 0, 'sched_exit without one');
	is(scalar(@errors), 0, 'sched_entry, a switch or none, sched_exit') or diag(map { "$_\n" } splice(@errors, 0, 10));
}

1;
