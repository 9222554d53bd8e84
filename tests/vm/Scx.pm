# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# sched_scx_* against what the scheduler of scx.bpf.c noted when it decided.
package Scx;
use strict;
use warnings;
use Exporter qw(import);
use JSON::PP;
use Test::More;
our @EXPORT = qw(scx_events check_scx);

my $none = 1 << 63; # SCX_DSQ_INVALID
my $sorted = 1250999896491; # SCX_SORTED
my ($global, $local) = ($none + 1, $none + 2);

# kernel/sched/core.c, sched_prio_to_weight: by nice value from -20 on.
my @weights = qw(88761 71755 56483 46273 36291 29154 23254 18705 14949 11916 9548 7620 6100 4904 3906 3121 2501 1991 1586 1277
	1024 820 655 526 423 335 272 215 172 137 110 87 70 56 45 36 29 23 18 15);

# Return: the weight that sched_ext gives a task of priority $prio, on the cgroup scale: 1..10000,
# 100 is nice 0.
sub weight_of {
	my ($prio) = @_;
	my $weight = int($weights[$prio - 100] * 100 / 1024 + 0.5);

	return $weight < 1 ? 1 : $weight > 10000 ? 10000 : $weight;
}

# The lines of `dump --json`, in their order.
sub scx_events {
	my ($text) = @_;

	return map { decode_json($_) } grep { /^\{.*"event"/ } split(/\n/, $text);
}

# By task, in the order of time.
sub notes_of {
	my ($text) = @_;
	my %notes;

	for (split(/\n/, $text)) {
		my ($what, $fields) = /^(\w+) (.*)$/ or next;
		my %note = (what => $what, $fields =~ /(\w+)=(\d+)/g);

		push(@{$notes{$note{tid}}}, \%note) if $what eq 'enqueued';
	}
	return \%notes;
}

# What was noted of a task since it ran last.
sub last_note {
	my ($c, $tid, $ts_ns) = @_;
	my ($note) = grep { $_->{ts_ns} < $ts_ns } reverse(@{$c->{notes}{$tid} // []});

	return $note && $note->{ts_ns} > ($c->{ran}{$tid} // $c->{since}) ? $note : undef;
}

# Meanwhile the kernel puts all where it likes.
sub is_bypassed {
	my ($c, $e) = @_;
	my $what = $e->{event} eq 'sched_ext:sched_ext_event' ? $e->{fields}{name} : '';

	$c->{bypassed} = 1 if $what eq 'SCX_EV_BYPASS_ACTIVATE';
	$c->{bypassed} = 0 if $what eq 'SCX_EV_BYPASS_DURATION';
	@{$c}{qw(left ran since)} = ({}, {}, $e->{ts_ns}) if $c->{bypassed};
	return $c->{bypassed};
}

sub compare {
	my ($c, $what, $e, %want) = @_;
	my $f = $e->{fields};
	my @wrong = grep { $f->{$_} != $want{$_} } sort keys %want;

	$c->{count}{$what}++;
	push(@{$c->{differ}}, join(' ', "$what at $e->{ts_ns}:", map { "$_=$f->{$_}, not $want{$_};" } @wrong)) if @wrong;
}

sub queue_of {
	my ($dsq) = @_;

	return { 7 => 'fifo', $sorted => 'sorted', $local => 'local', 0 => 'held' }->{$dsq};
}

# Return: the fields that describe how the task was put into its queue. Only insertion into a sorted
# queue sets a vtime, which then stays.
sub put_as {
	my ($note, $slice, $vtime) = @_;

	return $note->{nr} == 0 ? () : ($slice => $note->{slice}, $note->{dsq} == $sorted ? ($vtime => $note->{vtime}) : ());
}

# Where it was put when it was woken.
sub check_wakeup {
	my ($c, $e) = @_;
	my $f = $e->{fields};
	my $note = last_note($c, $f->{pid}, $e->{ts_ns});

	if ($f->{pid} == $e->{tid}) { # it was about to sleep
		compare($c, 'woken while it runs', $e, dsq => $none, held => 0, nr => 0);
		return;
	}
	if (!$note) { # it is exiting, or may not be moved: the scheduler is not asked
		compare($c, 'woken by the kernel', $e, dsq => $f->{dsq} == $global ? $global : $local, held => 0);
		return;
	}
	my $held = $note->{nr} == 0;
	# one that was about to sleep when it was preempted stands in a queue already, from which others have gone
	compare($c, 'woken, ' . queue_of($note->{dsq}), $e, dsq => $held ? $none : $note->{dsq}, held => $held,
		$c->{left}{$f->{pid}} ? () : (nr => $note->{nr}), put_as($note, 'slice', 'vtime'));
}

# Where prev was put. Who was picked from the CPU's queue is there no more; the others are.
sub check_prev {
	my ($c, $e) = @_;
	my $f = $e->{fields};
	my $note = last_note($c, $f->{prev_pid}, $e->{ts_ns});

	if (!$f->{prev_queued}) {
		compare($c, 'slept', $e, prev_dsq => $none, prev_nr => 0, prev_held => 0);
	} elsif ($note) {
		my $held = $note->{nr} == 0;
		my $gone = $note->{dsq} == $local && $f->{next_weight};
		compare($c, 'gave way, ' . queue_of($note->{dsq}), $e, prev_dsq => $held ? $none : $note->{dsq}, prev_held => $held,
			prev_nr => $note->{nr} - ($gone ? 1 : 0), put_as($note, 'prev_slice', 'prev_vtime'));
	} else { # its slice is not used up: it goes to where it was
		compare($c, 'preempted', $e, prev_dsq => $f->{prev_dsq} == $global ? $global : $local, prev_held => 0);
	}
}

# With which numbers next runs: those that it was put into the queue with.
sub check_next {
	my ($c, $e) = @_;
	my $f = $e->{fields};
	my $note = last_note($c, $f->{next_pid}, $e->{ts_ns});
	my $left = $c->{left}{$f->{next_pid}};

	if ($note && $note->{nr}) {
		compare($c, 'runs, ' . queue_of($note->{dsq}), $e, put_as($note, 'next_slice', 'next_vtime'));
	} elsif ($left) {
		compare($c, 'runs on', $e, next_slice => $left);
	}
}

sub check_switch {
	my ($c, $e) = @_;
	my ($prev, $next) = @{$e->{fields}}{qw(prev_pid next_pid)};
	my ($prev_prio, $next_prio) = @{$c->{prio}}{$prev, $next};

	if ($e->{fields}{prev_weight}) {
		check_prev($c, $e);
		compare($c, 'weight', $e, prev_weight => weight_of($prev_prio)) if ($prev_prio // 0) >= 100;
		$c->{left}{$prev} = $e->{fields}{prev_queued} ? $e->{fields}{prev_slice} : 0;
	}
	return if !$e->{fields}{next_weight};
	check_next($c, $e);
	compare($c, 'weight', $e, next_weight => weight_of($next_prio)) if ($next_prio // 0) >= 100;
	$c->{seen}{$e->{fields}{next_weight}}++;
	$c->{ran}{$next} = $e->{ts_ns};
}

# @events: of one CPU. @want: what must have happened, and how often at least.
sub check_scx {
	my ($events, $notes, %want) = @_;
	my $c = { notes => notes_of($notes), differ => [], since => 0 };

	for my $e (@$events) {
		my $f = $e->{fields};

		next if is_bypassed($c, $e);
		$c->{prio} = { $f->{prev_pid} => $f->{prev_prio}, $f->{next_pid} => $f->{next_prio} } if $e->{event} eq 'sched:sched_switch';
		check_wakeup($c, $e) if $e->{event} =~ /^schedtap:sched_scx_wakeup/;
		check_switch($c, $e) if $e->{event} eq 'schedtap:sched_scx_switch';
	}
	note("$_: $c->{count}{$_}") for sort keys %{$c->{count}};
	is(scalar(@{$c->{differ}}), 0, 'events are what the scheduler noted') or diag(map { "$_\n" } splice(@{$c->{differ}}, 0, 10));
	cmp_ok($c->{count}{$_} // 0, '>=', $want{$_}, "$_: how often") for sort keys %want;
	cmp_ok($c->{seen}{$_} // 0, '>', 0, "tasks of weight $_") for 33, 100, 305;
}

1;
