#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `export --to ftrace`: what Perfetto makes of the text is what our own reports say, and switches and wakings are those that
# trace-cmd prints. With the recordings of the golden tests, simulated ones (tests/truth), and one of another machine.
# SCHEDTAP and MKDAT name the programs.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use lib dirname(__FILE__);
use Perfetto;

my $here = dirname(abs_path($0));
$ENV{SCHEDTAP} = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $mkdat = abs_path($ENV{MKDAT} // dirname($ENV{SCHEDTAP}) . '/tests/mkdat');
my $generate = dirname($ENV{SCHEDTAP}) . '/tests/truth/generate';
my $tmp = tempdir(CLEANUP => 1);
my ($n, $failed, $compared, $woken) = (0, 0, 0, 0);

if (my $why = missing()) {
	print "1..0 # SKIP $why\n";
	exit 0;
}

# check NAME, PROBLEM...: one TAP line.
sub check {
	my ($name, @problems) = @_;

	$n++;
	$failed++ if @problems;
	print @problems ? 'not ok ' : 'ok ', "$n - $name\n";
	splice(@problems, 20) if @problems > 20;
	print STDERR map { "#   $_\n" } @problems;
}

# differences WHAT, THEIRS, OURS, OFF: where two tables of numbers differ by more; what is missing is 0.
sub differences {
	my ($what, $theirs, $ours, $off) = @_;
	my %keys = (%$theirs, %$ours);

	return map { "$what of $_: " . ($theirs->{$_} // 0) . ', not ' . ($ours->{$_} // 0) }
		grep { abs(($theirs->{$_} // 0) - ($ours->{$_} // 0)) > ($off->{$_} // 0) } sort keys %keys;
}

sub export_text {
	my ($file) = @_;
	my $text = $file =~ s/\.dat$/.txt/r;

	system($ENV{SCHEDTAP}, 'export', '--to', 'ftrace', '-i', $file, '-o', $text) == 0 or die "export of $file\n";
	return $text;
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
		$first{$1 + 0} //= $2 * 1000000000 + $3 - $start if / \[(\d+)\] \S+ +(\d+)\.(\d{9}): sched_switch: /;
	}
	return \%first;
}

# A text tells Perfetto nothing of unknown time: compared are CPUs that have some only before their first switch. Perfetto reads seconds
# as a double, so that each time may be 1 ns less; a duration of -1 goes on to the end.
sub compare {
	my ($file, $name) = @_;
	my $json = qx($ENV{SCHEDTAP} summary -i '$file' --json 2>/dev/null);
	my $summary = $json =~ /\S/ ? decode_json($json) : return;
	my $text = export_text($file);
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
	return map { /^.{16}-(\d+) +(?:\(.{7}\) )?\[(\d+)\] (?:\S{5} +)?(\d+\.\d{9}): (sched_switch|sched_waking): +(.*)$/ ? "$1 $2 $3 $4: $5" : () } @_;
}

sub compare_trace_cmd {
	my ($file) = @_;
	my $name = 'switches are those that trace-cmd prints';

	if (system('command -v trace-cmd >/dev/null') != 0) {
		$n++;
		print "ok $n - $name # SKIP no trace-cmd\n";
		return;
	}
	my @theirs = parts_of(qx(trace-cmd report -N -t -i $file 2>/dev/null));
	my @ours = parts_of(lines_of(export_text($file)));

	check("$name: there are some", @theirs > 50 ? () : scalar(@theirs));
	check($name, map { ($theirs[$_] // '') eq ($ours[$_] // '') ? () : ($theirs[$_] // 'none', $ours[$_] // 'none') } 0 .. ($#theirs > $#ours ? $#theirs : $#ours));
}

for my $in (glob("$here/../golden/*/*/in.txt")) {
	my ($report, $case) = $in =~ m{([^/]+)/([^/]+)/in.txt$};

	next if @ARGV && !grep { "$report/$case" =~ /$_/ } @ARGV;
	system($mkdat, $in, "$tmp/$report-$case.dat") == 0 or die "$mkdat $in\n";
	compare("$tmp/$report-$case.dat", "$report/$case");
}
for my $seed (@ARGV ? () : 1 .. 6) {
	mkdir("$tmp/$seed");
	system($generate, $seed, 600, "$tmp/$seed") == 0 or die "$generate\n";
	compare($_, "seed $seed, " . basename($_)) for glob("$tmp/$seed/*.dat");
}
system('cp', "$here/../recordings/arm64_v6.dat", "$tmp/arm64.dat");
compare("$tmp/arm64.dat", 'another machine');
compare_trace_cmd("$tmp/arm64.dat");
check('CPUs were compared, and who was woken has a waker', $compared > 20 && $woken > 1000 ? () : "$compared, $woken");
print "1..$n\n";
exit($failed ? 1 : 0);
