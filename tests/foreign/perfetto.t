#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Perfetto traces are read: reports on the export of a recording are those on the recording, as far as the export holds it (Held.pm);
# Perfetto's trace processor says the same of a trace, where it can run; and traces that are made here, whole and damaged, say what is
# written beside them.
use strict;
use warnings;
use Compress::Zlib qw(compress);
use File::Basename qw(dirname);
use JSON::XS;
use lib dirname(__FILE__), dirname(__FILE__) . '/..', dirname(__FILE__) . '/../perfetto';
use Files;
use Held;
use Perfetto;
use Proto;
use Recordings;

my $tmp = memory_folder();
my $s = 1_000_000_000;
my @all = ([0, "$tmp/0"]);

# ---- exports ----

my @reports = ('latency', 'states', 'timehist', 'migrations', 'wakers', 'summary', 'placement', 'explain', 'map', 'balance', 'latency --preempted', 'critical -t 10 --path');
my $json = JSON::XS->new->canonical;

# What a report says beside the description of the recording, its records' size, and processes: an export has some that no event has
# named yet.
sub content {
	my ($text) = $_[0] =~ s/"(?:tgid|bytes)": *[^,}]*,?//gr;
	my $v = eval { decode_json($text) };

	return join("\n", grep { !/^\{"recording"/ } split(/\n/, $text)) unless $v;
	delete $v->{recording};
	return $json->encode($v);
}

sub same_reports {
	my ($from, $name) = @_;
	my $held = "$tmp/held-" . scalar(@all) . '.dat';

	push(@all, 1);
	my ($nr, $known) = held_recording($from, $held);
	return if $nr < 8 || !defined($known);
	# Of a recording of schedtap it is known that it is complete from its start; of no recording is that said where the window begins later.
	my $since = sprintf('%d.%09d', ($known + 1) / 1e9, ($known + 1) % 1_000_000_000);
	my $trace = export_of($held);
	my @texts = map { $_->[0] } runs(map { my $report = $_; map { "$report -i '$_' --json --time $since," } $held, $trace } @reports);
	my @bad = grep { my ($a, $b) = splice(@texts, 0, 2); content($a) ne content($b) } @reports;

	check("$name: reports on its export are those on it", @bad);
}

# A trace does not say that all CPUs were recorded from one time on, so less is known after a loss: no recording here has one. Nor has one
# events of a CPU with equal times, whose order is lost.
my $some = qr/^(?:critical-path|export-(?:off-cpu|perfetto|waits)|latency-offline|summary-(?:newtask|reused)|timehist-hostile-names)$|(?:few|hidden|picks|queue|single|waking|whole)\.dat$/;
same_reports(@$_) for grep { $_->[1] =~ $some } various_recordings(), simulated(1);

# ---- the trace processor ----

# Run time and sleep of each thread.
sub compare_processor {
	my ($from, $name) = @_;
	my $held = "$tmp/other.dat";

	unlink($held);
	held_recording($from, $held);
	my $trace = export_of($held);
	my ($ours) = reports($trace, 'states');
	my ($recording, @tasks) = ($ours->{recording}, @{$ours->{tasks} // []});
	my $end = $recording->{end_ns};
	my $theirs = ask($trace,
		run => "select tid, sum(iif(dur < 0, $end - ts, dur)) as ns from sched join thread using (utid) where tid between 1 and 4194303 group by 1",
		sleep => "select tid, sum(iif(dur < 0, $end - ts, dur)) as ns from thread_state join thread using (utid) where state in ('S', 'I') and tid between 1 and 4194303 group by 1");
	my %run = map { $_->{tid} => $_->{ns} } @{$theirs->{run}};
	my %sleep = map { $_->{tid} => $_->{ns} } @{$theirs->{sleep}};
	my (%our_run, %our_sleep);

	$our_run{$_->{tid}} += $_->{run_ns}, $our_sleep{$_->{tid}} += $_->{sleep_ns} for @tasks;
	check("$name: the trace processor has the run times of states", map { "task $_: " . ($run{$_} // 0) . ", not $our_run{$_}" } grep { ($run{$_} // 0) != $our_run{$_} } sort keys %our_run);
	# 1 ns for each waking that our export repeats
	check("$name: and the sleeps", map { "task $_: " . ($sleep{$_} // 0) . ", not $our_sleep{$_}" } grep { abs(($sleep{$_} // 0) - $our_sleep{$_}) > 5 } sort keys %our_sleep);
}

my $why = missing();
check("the trace processor says the same # SKIP $why") if $why;
unless ($why) {
	compare_processor(@$_) for grep { $_->[1] =~ /(?:whole|waking|few)\.dat$/ } simulated(1);
}

# ---- traces that are made here ----

# made NAME, BYTES, WANTED...: `dump` prints these lines, without what goes before the time; and a note or an error, if it begins with "schedtap".
sub made {
	my ($name, $bytes, @wanted) = @_;
	my $file = "$tmp/made.pftrace";

	spew($file, $bytes);
	my @got = map { s/^.*?\[(\d+)\] +/$1 /r =~ s/ prev_comm=.*? prev_pid=/ /r =~ s/prev_prio=\S+ prev_state=//r =~ s/ next_comm=.*? next_pid=/ /r =~ s/ next_prio=\S+//r =~ s/\Q'$file'\E/it/gr }
		split(/\n/, qx("$ENV{SCHEDTAP}" dump -i '$file' 2>&1));
	check($name, map { ($got[$_] // 'nothing') eq ($wanted[$_] // 'nothing') ? () : ($got[$_] // 'nothing') . ', not ' . ($wanted[$_] // 'nothing') } 0 .. ($#got > $#wanted ? $#got : $#wanted));
}

sub switched { return "$_[0] 1.$_[1]: sched:sched_switch: $_[2] $_[3] ==> $_[4]" }
sub woken { return "$_[0] 1.$_[1]: sched:sched_waking: comm=task $_[2] pid=$_[2] prio=120 target_cpu=00$_[3]" }

made('plain events', bundle(0, switch($s, 10, 1, 11), waking($s + 5, 11, 10, 0)), switched('000', '000000000', 10, 'S', 11), woken('000', '000000005', 10, 0));
made('events of a bundle in any order', bundle(0, switch($s + 9, 11, 2, 12), switch($s, 10, 1, 11)),
	switched('000', '000000000', 10, 'S', 11), switched('000', '000000009', 11, 'D', 12));
made('columns: the first switch leaves a task that is not known', bundle(1, compact([[$s, 0, 10], [$s + 9, 256, 11]], [[$s + 5, 11, 1]])),
	switched('001', '000000000', -1, 'R', 10), woken('001', '000000005', 11, 1), switched('001', '000000009', 10, 'R+', 11));
made('columns and messages of one bundle', bundle(0, switch($s, 10, 1, 11), switch($s + 20, 12, 1, 13), compact([[$s + 10, 1, 12]], [])),
	switched('000', '000000000', 10, 'S', 11), switched('000', '000000010', 11, 'S', 12), switched('000', '000000020', 12, 'S', 13));
made('a waking and a switch to its task at one time', bundle(0, switch($s, 10, 1, 11), compact([[$s + 10, 1, 12]], [[$s + 10, 12, 0]])),
	switched('000', '000000000', 10, 'S', 11), woken('000', '000000010', 12, 0), switched('000', '000000010', 11, 'S', 12));
made('all switches in one bundle, all other events in another one', bundle(0, compact([[$s, 0, 10], [$s + 20, 1, 11]], [])) . bundle(0, waking($s + 10, 10, 11, 0)),
	switched('000', '000000000', -1, 'R', 10), woken('000', '000000010', 11, 0), switched('000', '000000020', 10, 'S', 11));
made('bundles that go back in time', bundle(0, switch($s + 50_000_000, 11, 1, 12)) . bundle(0, switch($s, 10, 1, 11)),
	switched('000', '000000000', 10, 'S', 11), switched('000', '050000000', 11, 'S', 12));
made('lost events', bundle(0, switch($s, 10, 1, 11)) . bundle(0, 3 => 1, switch($s + 9, 12, 1, 13)),
	switched('000', '000000000', 10, 'S', 11), '*** [000] some events lost between 1.000000000 and 1.000000009' =~ s/^.*?\[(\d+)\] +/$1 /r, switched('000', '000000009', 12, 'S', 13));
made('compressed packets', packet(50 => \compress(bundle(0, switch($s, 10, 1, 11)))), switched('000', '000000000', 10, 'S', 11));
made('an event that names its fields', bundle(0, event($s, 1, 327, 1 => \'sched_stat_iowait', 2 => \message(1 => \'pid', 4 => 5), 2 => \message(1 => \'delay', 5 => 100))),
	'000 1.000000000: sched:sched_stat_iowait: pid=5 delay=100');
made('an event that the trace describes', bundle(0, 11 => \message(1 => 65536, 2 => \message(1 => \'own', 2 => \message(1 => \'value', 3 => 1, 5 => 4)))) .
	bundle(0, event($s, 1, 65536, 1 => 7)), '000 1.000000000: text:own: value=7');
made('events that are not known', bundle(0, event($s, 1, 45, 1 => 1), event($s, 1, 70000, 1 => 1), switch($s, 10, 1, 11)),
	'schedtap: ftrace events whose fields schedtap does not know are left out (2), by their number in FtraceEvent: 45 (1), above 1023 (1)', switched('000', '000000000', 10, 'S', 11));
made('a task that was found running, as our export says it', bundle(0, switch($s, 4194305, 0, 10), compact([[$s + 5, 0, 4194305], [$s + 9, 0, 12], [$s + 9, 1, 13]], [])),
	switched('000', '000000000', -1, 'R', 10), switched('000', '000000009', 12, 'S', 13));
made('states of Linux 4.4', packet(45 => \message(1 => \message(1 => \'Linux', 3 => \'4.4.1'))) . bundle(0, switch($s, 10, 2048, 11), switch($s + 1, 11, 64, 12), switch($s + 2, 12, 1026, 13)),
	switched('000', '000000000', 10, 'R+', 11), switched('000', '000000001', 11, 'X', 12), switched('000', '000000002', 12, 'I', 13));
made('the state of a task as the kernel keeps it', bundle(0, switch($s, 10, 0x402, 11), switch($s + 1, 11, 0x102, 12)),
	switched('000', '000000000', 10, 'I', 11), switched('000', '000000001', 11, 'D', 12));
made('a column that is too short', bundle(0, switch($s, 10, 1, 11), 4 => \message(1 => \(varint($s + 5) . varint(5)), 2 => \varint(1), 3 => \(varint(12) . varint(13)), 4 => \varint(120), 5 => \'a', 6 => \varint(9))) . bundle(0, switch($s + 50, 20, 1, 21)),
	'schedtap: it has damaged parts (1), whose events are missing', switched('000', '000000000', 10, 'S', 11), switched('000', '000000005', 11, 'S', 12),
	'000 some events lost between 1.000000005 and 1.000000050', switched('000', '000000050', 20, 'S', 21));
made('an event that is cut off within its packet', bundle(0, switch($s, 10, 1, 11)) . bundle(0, 2 => \"\x08\xff", switch($s + 5, 11, 1, 12)),
	'schedtap: it has damaged parts (1), whose events are missing', switched('000', '000000000', 10, 'S', 11), '000 some events lost between 1.000000000 and 1.000000005', switched('000', '000000005', 11, 'S', 12),
	'000 some events lost between 1.000000005 and 1.000000005');
made('columns of which the first row is damaged', bundle(0, switch($s, 10, 1, 11)) . bundle(0, 4 => \message(1 => \varint($s + 5))) . bundle(0, switch($s + 50, 20, 1, 21)),
	'schedtap: it has damaged parts (1), whose events are missing', switched('000', '000000000', 10, 'S', 11),
	'000 some events lost between 1.000000000 and 1.000000050', switched('000', '000000050', 20, 'S', 21));
made('lost events of a CPU without others', bundle(0, switch($s, 10, 1, 11), switch($s + 9, 11, 1, 12)) . bundle(1, 3 => 1),
	switched('000', '000000000', 10, 'S', 11), switched('000', '000000009', 11, 'S', 12), '001 some events lost between 1.000000000 and 1.000000009');
made('a file that is cut off', substr(bundle(0, switch($s, 10, 1, 11)) . bundle(0, switch($s + 5, 11, 1, 12)), 0, -3),
	'schedtap: it is cut off, or damaged, after its last whole packet', switched('000', '000000000', 10, 'S', 11));
made('a length beyond the file', bundle(0, switch($s, 10, 1, 11)) . "\x0a\xff\xff\xff\xff\x7f", 'schedtap: it is cut off, or damaged, after its last whole packet', switched('000', '000000000', 10, 'S', 11));
made('a number of eleven bytes', bundle(0, switch($s, 10, 1, 11)) . bundle(0, 2 => \("\x08" . "\xff" x 10 . "\x01"), switch($s + 5, 11, 1, 12)),
	'schedtap: it has damaged parts (1), whose events are missing', switched('000', '000000000', 10, 'S', 11), '000 some events lost between 1.000000000 and 1.000000005', switched('000', '000000005', 11, 'S', 12),
	'000 some events lost between 1.000000005 and 1.000000005');
made('a time after 292 years', bundle(0, switch($s, 10, 1, 11), switch(-1, 11, 1, 12)), 'schedtap: it has damaged parts (1), whose events are missing', '000 some events lost between 1.000000000 and 1.000000000', switched('000', '000000000', 10, 'S', 11),
	'000 some events lost between 1.000000000 and 1.000000000');
made('CPU 4000000000', bundle(4_000_000_000, switch($s, 10, 1, 11)), 'schedtap: it is damaged: it has an event of CPU 4000000000');
made('compressed packets in compressed packets are left alone', bundle(0, switch($s, 10, 1, 11)) . packet(50 => \compress(packet(50 => \compress(bundle(0, switch($s + 5, 11, 1, 12)))))),
	switched('000', '000000000', 10, 'S', 11));
made('compressed packets that are cut off', bundle(0, switch($s, 10, 1, 11)) . packet(50 => \substr(compress(bundle(0, switch($s + 5, 11, 1, 12))), 0, -9)),
	'schedtap: it has damaged parts (2), whose events are missing', switched('000', '000000000', 10, 'S', 11));
made('no ftrace events', packet(2 => \message(2 => \message(1 => 5, 2 => \'x', 3 => 5))), 'schedtap: it is a Perfetto trace without ftrace events');

exit(finish());
