# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `export --to perfetto` can hold of a recording: a recording of the events that Perfetto has, and of the losses, made with mkdat
# from those of another recording.
package Held;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
use JSON::XS;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;
our @EXPORT = qw(held_recording);

my %held = map { $_ => 1 } qw(sched:sched_switch sched:sched_waking sched:sched_wakeup_new sched:sched_migrate_task sched:sched_process_fork
	sched:sched_process_exec sched:sched_pi_setprio task:task_newtask task:task_rename irq:irq_handler_entry irq:irq_handler_exit
	irq:softirq_entry irq:softirq_exit power:cpu_frequency power:cpu_idle);

sub line_of {
	my ($e, $name, $f) = @_;

	return join(' ', $e->{ts_ns}, $e->{cpu}, $e->{tid} // 0, $name // $e->{event}, map { "$_=" . quoted($f->{$_}) } grep { defined($f->{$_}) } sort keys %$f) . "\n";
}

# The task of the next switch away from each exec's CPU has the program's name.
sub name_programs {
	my (@events) = @_;
	my %name;

	for (reverse @events) {
		my ($cpu, $f) = ($_->{cpu}, $_->{fields} // next);

		$name{$cpu} = $f->{prev_comm} if $_->{event} eq 'sched:sched_switch';
		$f->{filename} = '/bin/' . ($name{$cpu} // 'none') if $_->{event} eq 'sched:sched_process_exec';
	}
}

# A column of switches does not name the task that is left: it has the name of the switch to it, or a later one that an event tells.
sub keep_name {
	my ($comm, $e) = @_;
	my ($cpu, $f) = ($e->{cpu}, $e->{fields});

	if ($e->{event} eq 'sched:sched_switch') {
		my ($tid, $name) = @{$comm->{$cpu} // [-1]};

		$f->{prev_comm} = $name if $tid == $f->{prev_pid};
		$comm->{$cpu} = [@$f{qw(next_pid next_comm)}];
	} elsif ($e->{event} eq 'sched:sched_process_exec' && $comm->{$cpu} && $comm->{$cpu}[0] == $f->{pid}) {
		$comm->{$cpu}[1] = $f->{filename} =~ s{.*/}{}r;
	}
}

# held_recording FROM, TO: make it. Return: the number of its events, and the ns at which each CPU has had a switch.
sub held_recording {
	my ($from, $to) = @_;
	my @events = map { decode_json($_) } grep { /^\{"(?:ts_ns|lost)"/ } split(/\n/, qx("$ENV{SCHEDTAP}" dump -i '$from' --json 2>/dev/null));
	my ($text, $nr, $known, %lost, %comm, %switched) = ('', 0);
	my $names_new = grep { ($_->{event} // '') =~ /^(?:task:task_newtask|sched:sched_process_fork)$/ } @events;

	name_programs(@events);
	for my $e (@events) {
		my $f = $e->{fields};

		$lost{$e->{lost}{cpu}} = 1 if $e->{lost} && defined($e->{lost}{cpu});
		next unless $f && $held{$e->{event}} && ($names_new || $e->{event} ne 'sched:sched_wakeup_new');
		$text .= "missed $e->{cpu} 0\n" if delete($lost{$e->{cpu}});
		delete @$f{qw(next_queued_ns next_delay_ns prev_delayed)};
		$f->{$_} = $f->{$_} =~ s{^swapper/\d+}{swapper}r for grep { /comm$/ } keys %$f;
		keep_name(\%comm, $e);
		$text .= line_of($e, 'task:task_newtask', { pid => $f->{child_pid}, comm => $f->{child_comm} }) if $e->{event} eq 'sched:sched_process_fork';
		$text .= line_of($e, undef, $f);
		$nr++;
		$known = $e->{ts_ns} if $e->{event} eq 'sched:sched_switch' && !$switched{$e->{cpu}}++;
	}
	spew("$to.txt", $text);
	system($ENV{MKDAT}, "$to.txt", $to) == 0 or die "mkdat of $from failed\n";
	return ($nr, $known);
}

1;
