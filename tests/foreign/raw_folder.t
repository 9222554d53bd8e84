#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Folders with sub-buffers of tracefs next to the events' formats: the same answers as from the trace.dat that they were taken from, in
# both layouts. Without formats, damaged, or tracefs itself: a sentence.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = abs_path(dirname(__FILE__));
my $schedtap = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my $mkdat = $ENV{MKDAT} // "$here/../../build/tests/mkdat";
my $dir = memory_folder();
chdir($dir) or die "$dir: $!\n";

my $now = 1_000_000_000;
my @text = ('cpus 3');
srand(1);
for my $i (0 .. 2999) {
	my ($cpu, $round) = ($i % 3, int($i / 3));
	my ($from, $to) = map { 100 + $cpu + 3 * (($round + $_) % 4) } 0, 1;

	$now += 1000 + int(rand(100_000));
	push(@text, "$now $cpu $from sched:sched_switch prev_comm=t$from prev_pid=$from prev_prio=120 prev_state=1 next_comm=t$to next_pid=$to next_prio=120");
	push(@text, "$now $cpu $to sched:sched_waking comm=t$from pid=$from prio=120 target_cpu=$cpu");
	push(@text, "missed $cpu 5") if $i == 1500;
}
spew('in.txt', join("\n", @text) . "\n");
system("$mkdat in.txt in.dat --spool") == 0 or die "mkdat\n";

# The pages of each CPU, from a spool folder; the formats, from head.dat.
my @pages = map { slurp($_) } sort(glob('in.dat.spool/*cpu*'), glob('in.dat.spool/*.pages'));
my $head = slurp('in.dat.spool/head.dat');
my %formats = map { /^name: (\w+)/ ? ($1, $_) : () } $head =~ /(name: \w+\nID: \d+\nformat:.*?\nprint fmt: [^\n]*\n)/gs;
my ($header_page) = $head =~ /(\tfield: u64 timestamp;.*?data;[^\n]*\n)/s;
is(scalar(@pages), 3, 'pages of three CPUs') or diag(join(' ', glob('in.dat.spool/*')));
ok($formats{sched_switch} && $formats{sched_waking} && $header_page, 'formats') or BAIL_OUT('no formats');

sub make_folder {
	my ($name, $formats, $path) = @_;

	for my $event (qw(sched_switch sched_waking)) {
		make_path("$name/$formats/sched/$event");
		spew("$name/$formats/sched/$event/format", $formats{$event});
	}
	spew("$name/$formats/header_page", $header_page);
	for my $cpu (0 .. $#pages) {
		my $file = "$name/" . sprintf($path, $cpu);

		make_path(dirname($file));
		spew($file, $pages[$cpu]);
	}
}

sub answer {
	my ($report, $input) = @_;
	# not from the start: what ran before the first switch is known only if a recorder says when it began
	my $text = `$schedtap $report --json --time 1.01s,1.15s -i $input 2>&1`;

	$text =~ s/"recording":\{.*?\}//;
	$text =~ s/"file":"[^"]*"//g;
	return $text;
}

make_folder('viz', 'formats', 'traces/cpu%d');
make_folder('fs', 'events', 'per_cpu/cpu%d/trace_pipe_raw');
system("rm -r in.dat.spool; $mkdat in.txt in.dat") == 0 or die "mkdat\n";
for my $report (qw(latency states timehist wakers)) {
	my $want = answer($report, 'in.dat');

	cmp_ok(length($want), '>', 200, "$report: an answer");
	ok(answer($report, $_) eq $want, "$report of $_") for qw(viz fs);
}
like(scalar(`$schedtap summary -i viz`), qr/^# viz, sub-buffers of tracefs, .*lost 5\b/, 'what it is, and losses');
system('tar czf viz.tar.gz viz') == 0 or die "tar\n";
is(`$schedtap summary -i viz.tar.gz 2>&1`, "schedtap: 'viz.tar.gz' is not a recording but a tar archive: unpack it, and give a folder or a file of it\n", 'an archive');

sub refused {
	my ($name, $input, $want) = @_;
	my $said = `timeout 20 $schedtap summary -i $input 2>&1`;

	is($? >> 8, 1, "$name: refused");
	like($said, $want, "$name: a sentence");
}
system('cp -r viz bare; rm -r bare/formats');
refused('without formats', 'bare', qr{no formats of events.*formats/SYSTEM/EVENT/format});
refused('tracefs', '/sys/kernel/tracing', qr/tracefs/) if -e '/sys/kernel/tracing/trace_pipe';
system('cp -r viz cut; truncate -s -100 cut/traces/cpu1');
like(scalar(`$schedtap summary -i cut 2>&1`), qr/lost at least/, 'a cut file: the rest is lost');
system('cp -r viz odd; echo nonsense >odd/formats/header_page');
refused('a header_page that is none', 'odd', qr/header_page/);
spew('viz/formats/sched/sched_switch/format', 'x' x 100);
like(scalar(`$schedtap summary -i viz 2>&1`), qr/event_\d+|unknown/, 'a format that is none: an unknown event');
chdir('/'); # to be removed, a folder must not be the current one
done_testing();
