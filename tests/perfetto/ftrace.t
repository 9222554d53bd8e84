#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `export --to ftrace`: what Perfetto makes of the text is what our own reports say, and switches and wakings are those that
# trace-cmd prints. With recordings of golden tests (Perfetto.pm), simulated ones (tests/truth) of one seed, and one of another machine;
# in a soak with all of the first, and SEEDS [24] seeds from SEED on.
#
#     tests/perfetto/ftrace.t WORD...: with golden tests' recordings of these names, and that of the other machine
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Perfetto;
use Recordings;

my ($compared, $woken) = (0, 0);

if (my $why = missing()) {
	print "1..0 # SKIP $why\n";
	exit 0;
}

# differences WHAT, THEIRS, OURS, OFF: where two tables of numbers differ by more; what is missing is 0.
sub differences {
	my ($what, $theirs, $ours, $off) = @_;
	my %keys = (%$theirs, %$ours);

	return map { "$what of $_: " . ($theirs->{$_} // 0) . ', not ' . ($ours->{$_} // 0) }
		grep { abs(($theirs->{$_} // 0) - ($ours->{$_} // 0)) > ($off->{$_} // 0) } sort keys %keys;
}

sub lines_of {
	open(my $f, '<', $_[0]) or die "$_[0]: $!\n";
	return grep { !/^#/ } <$f>;
}

# ns since the recording's start of each CPU's first switch.
sub first_switches {
	my ($start, @lines) = @_;
	my %first;

	for (@lines) {
		$first{$1 + 0} //= $2 * 1000000000 + $3 - $start if / \[(\d+)\] (?:\S{5} )? *(\d+)\.(\d{9}): sched_switch: /;
	}
	return \%first;
}

# The text format has no unknown time, so only CPUs whose unknown time precedes their first switch are
# compared. Perfetto reads seconds as a double, so each time may be 1 ns less; a duration of -1 lasts to
# the end.
sub compare {
	my ($file, $name) = @_;
	my $json = qx("$ENV{SCHEDTAP}" summary -i '$file' --json 2>/dev/null);
	my $summary = $json =~ /\S/ ? decode_json($json) : return;
	my $text = exported('ftrace', $file);
	my @lines = lines_of($text);
	my ($start, $end) = @{$summary->{recording}}{qw(start_ns end_ns)};
	my $first = first_switches($start, @lines);
	my $theirs = ask($text,
		errors => "select name, idx, value from stats where severity != 'info' and value > 0",
		cpus => "select ucpu as cpu, iif(tid = 0, 'idle', 'run') as what, count(*) as nr, sum(iif(dur < 0, $end - ts, dur)) as ns " .
			'from sched join thread using (utid) group by 1, 2',
		woken => 'select count(*) as nr from thread_state where waker_utid is not null');
	my $strange = grep { /^CPU:\d+ \[LOST|: tracing_mark_write: / } @lines; # the kernel's words for losses, and marks that are not Android's
	my %whole = map { $_->{cpu} => 1 } grep { !$_->{breaks} && !$_->{lost} && !$_->{offline_ns} && $_->{unknown_ns} == ($first->{$_->{cpu}} // -1) } @{$summary->{cpus}};
	my (%got, %want, %nr, %want_nr, %off);

	for (grep { $whole{$_->{cpu}} } @{$theirs->{cpus}}) {
		$got{"$_->{what} on CPU $_->{cpu}"} = $_->{ns};
		$off{"$_->{what} on CPU $_->{cpu}"} = 2 * $_->{nr};
		$nr{"CPU $_->{cpu}"} += $_->{nr};
	}
	for (grep { $whole{$_->{cpu}} } @{$summary->{cpus}}) {
		$want{"run on CPU $_->{cpu}"} = $_->{run_ns};
		$want{"idle on CPU $_->{cpu}"} = $_->{idle_ns};
		$want_nr{"CPU $_->{cpu}"} = $_->{switches};
		$compared++;
	}
	check("$name: each line is understood", map { "$_->{name} " . ($_->{idx} // '') . ": $_->{value}" }
		grep { !($_->{name} eq 'systrace_parse_failure' && $_->{value} == $strange) &&
			!($_->{name} eq 'mismatched_sched_switch_tids' && keys(%whole) < @{$summary->{cpus}}) } @{$theirs->{errors}});
	check("$name: what CPUs ran", differences('time', \%got, \%want, \%off));
	$woken += $theirs->{woken}[0]{nr};
	check("$name: switches", differences('switches', \%nr, \%want_nr, {}));
}

# Task, CPU, time and text. The name in front is not compared: trace-cmd has one for all of a task's life.
sub parts_of {
	return map { /^.{16}-(\d+) +(?:\(.{7}\) )?\[(\d+)\] (?:\S{5} )? *(\d+\.\d{9}): (sched_switch|sched_waking): +(.*)$/ ? "$1 $2 $3 $4: $5" : () } @_;
}

sub compare_trace_cmd {
	my ($file) = @_;
	my $name = 'switches are those that trace-cmd prints';

	return check("$name # SKIP no trace-cmd") if system('command -v trace-cmd >/dev/null') != 0;
	my @theirs = parts_of(qx(trace-cmd report -N -t -i $file 2>/dev/null));
	my @ours = parts_of(lines_of(exported('ftrace', $file)));

	check("$name: there are some", @theirs > 50 ? () : scalar(@theirs));
	check($name, map { ($theirs[$_] // '') eq ($ours[$_] // '') ? () : ($theirs[$_] // 'none', $ours[$_] // 'none') } 0 .. ($#theirs > $#ours ? $#theirs : $#ours));
}

compare(@$_) for (grep { my $name = $_->[1]; !@ARGV || grep { $name =~ /$_/ } @ARGV } various_recordings()), map { simulated($_) } @ARGV ? () : seeds(1, 24);
my $other = abs_path(dirname(__FILE__) . '/../recordings/arm64_v6.dat');
compare($other, 'another machine');
compare_trace_cmd($other);
check('CPUs were compared, and who was woken has a waker', $compared > 20 && $woken > 1000 ? () : "$compared, $woken");
exit(finish());
