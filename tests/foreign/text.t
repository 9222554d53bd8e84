#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Text recordings: reports on the text of a recording equal those on the recording itself, value by value. The texts are what trace-cmd
# and schedtap dump print of it, and what ftrace and perf would print, made here of the lines of dump. Texts with microseconds are made of
# those with nanoseconds by stretching time a thousandfold, with no two events at once, so that they lose nothing: what else is rounded is
# no business of the reader. Then what a program, a user or an enemy may have put into a text.
# SCHEDTAP, MKDAT and BUILD name the program, the one that makes recordings, and the build.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use lib dirname(abs_path($0)) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $dir = memory_folder();
my $has_trace_cmd = system('command -v trace-cmd >/dev/null') == 0;
my ($n, $failed) = (0, 0);

sub check {
	my ($ok, $what, @said) = @_;

	$n++;
	$failed++ if !$ok;
	print $ok ? '' : 'not ', "ok $n - $what\n";
	print STDERR map { "# $_\n" } @said[0 .. ($#said > 9 ? 9 : $#said)] if !$ok;
}

# ---- texts ----------------------------------------------------------------------------------
# The events of a recording as the lines of dump have them.
sub events_of {
	my ($dat) = @_;
	my @events;

	for (split(/\n/, (runs("dump -i $dat"))[0][0])) {
		/^ *(.*)-(\d+) +\[(\d+)\] (\d+)\.(\d{9}): (\w+):(\w+): ?(.*)$/ or next;
		push(@events, { comm => $1, tid => $2, cpu => $3, s => $4, ns => $5, system => $6, name => $7, text => $8 });
	}
	return @events;
}

# Stretch time a thousandfold and put 1 us between events that are less apart. @digits: of a second's fraction.
sub stretched {
	my ($text, $digits) = @_;
	my $last = 0;

	return join('', map {
		s{(\d+)\.(\d{9}): }{
			$last = "$1$2" > $last ? "$1$2" : $last + 1;
			sprintf('%d.%06d%s: ', $last / 1_000_000, $last % 1_000_000, '0' x ($digits - 6));
		}e;
		$_;
	} split(/^/, $text));
}

my $ftrace_head = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n" .
	"#                                _-----=> irqs-off/BH-disabled\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n" .
	"#              | |         |   |||||     |         |\n";

sub ftrace {
	my (@events) = @_;

	return join('', $ftrace_head, map { sprintf("%16s-%-7d [%s] d..2. %s.%s: %s: %s\n", @$_{qw(comm tid cpu s ns name text)}) } @events);
}

sub with_tgid {
	my (@events) = @_;

	return join('', $ftrace_head,
		map { sprintf("%16s-%-7d (%s) [%s] .... %s.%s: %s: %s\r\n", @$_{qw(comm tid)}, $_->{tid} ? sprintf('%7d', $_->{tid}) : '-------',
			@$_{qw(cpu s ns name text)}) } @events);
}

sub perf {
	my (@events) = @_;

	return join('', map { sprintf("%16s %5d [%s] %s.%s: %30s: %s\n", $_->{tid} ? $_->{comm} : 'swapper', @$_{qw(tid cpu s ns)},
		"$_->{system}:$_->{name}", $_->{text}) } @events);
}

sub perf_with_stacks {
	my (@events) = @_;

	return join('', "# ========\n# hostname : box\n# os release : 6.1.0-test\n# arch : x86_64\n#\n",
		map { sprintf("%16s %5d/%-5d [%s] %s.%s:          1 %s: %s\n\tffffffff81 schedule ([kernel.kallsyms])\n\n", $_->{tid} ? $_->{comm} : 'swapper',
			@$_{qw(tid tid cpu s ns)}, "$_->{system}:$_->{name}", $_->{text}) } @events);
}

sub systrace {
	my (@events) = @_;

	return "<!DOCTYPE html>\n<html><head><script>\n" . ('x' x 70_000) . "\n</script></head><body>\n<!-- BEGIN TRACE -->\n" .
		"<script class=\"trace-data\" type=\"application/text\">\n" . ftrace(@events) .
		"</script>\n<script class=\"trace-data\" type=\"application/text\">\nPROCESS DUMP\nUSER PID\n</script>\n<!-- END TRACE -->\n</body></html>\n";
}

sub trace_cmd {
	my ($dat, $options) = @_;

	return (commands("trace-cmd report $options -i $dat"))[0][0];
}

# Each text: its name, and how it is made of a recording and its events.
my @forms = (
	['schedtap dump', sub { (runs("dump -i $_[0]"))[0][0] }],
	['ftrace', sub { shift; ftrace(@_) }],
	['ftrace with processes and CRLF', sub { shift; with_tgid(@_) }],
	['perf script', sub { shift; perf(@_) }],
	['perf script with stacks', sub { shift; perf_with_stacks(@_) }],
	['systrace', sub { shift; systrace(@_) }],
	map { my $options = $_; ["trace-cmd report $options", sub { trace_cmd($_[0], $options) }] } $has_trace_cmd ? ('-t', '-t -l', '-t -N', '-t -R', '-t -R -l') : (),
);

# ---- reports --------------------------------------------------------------------------------
my @reports = ('latency --json --worst 5', 'states --json', 'timehist --json', 'migrations --json', 'wakers --json', 'balance --json');

# Rows of tasks, whose order depends on names and on times, by task. A number that several tasks had has several rows.
sub by_task {
	my ($rows) = @_;
	my (%rows, %nr);

	for (@$rows) {
		return undef unless ref eq 'HASH' && exists($_->{tid});
		my $tid = $_->{tid} // 'all';
		$rows{"$tid#" . ($nr{$tid}++ || 0)} = $_;
	}
	return @$rows ? \%rows : undef;
}

# What differs, as lines. Names that only a recording knows may be missing, and so may processes.
sub differences {
	my ($at, $a, $b) = @_;

	if (ref($a) eq 'ARRAY' && ref($b) eq 'ARRAY' && by_task($a) && by_task($b)) {
		($a, $b) = (by_task($a), by_task($b));
	}
	if (ref($a) eq 'HASH' && ref($b) eq 'HASH') {
		return map { differences("$at.$_", $a->{$_}, $b->{$_}) }
			grep { !/^(comm|\w*tgid|wall.*|.*_wall|throttling_possible)$/ } sort(keys(%{{%$a, %$b}}));
	}
	if (ref($a) eq 'ARRAY' && ref($b) eq 'ARRAY') {
		return "$at: " . @$a . ' and ' . @$b . ' elements' if @$a != @$b;
		return map { differences("$at\[$_]", $a->[$_], $b->[$_]) } 0 .. $#$a;
	}
	($a, $b) = map { defined() ? ref() ? encode_json($_) : $_ : 'null' } $a, $b;
	return $a eq $b || ($at =~ /comm$/ && $b eq 'null') ? () : "$at: $a and $b";
}

sub report_of {
	my ($file, @options) = @_;

	return map {
		my ($out, $status, $err) = @$_;
		my $json = eval { decode_json($out) } // { failed => $status, error => $err };
		delete($json->{recording});
		delete($json->{error}); # the notes
		$json;
	} runs(map { "$_ -i $file @options" } @reports);
}

sub compare {
	my ($what, $dat) = @_;
	my @events = events_of($dat);
	my $perf = "$dir/perf.data";
	system("$ENV{BUILD}/tests/fuzz/dat2perf", $dat, $perf) == 0 or die "dat2perf failed\n";
	my %own = (dat => [report_of($dat)], perf => [report_of($perf)]);

	for my $form (@forms) {
		my ($name, $make) = @$form;
		my $text = $make->($dat, @events);
		my $like = $name =~ /^perf/ ? 'perf' : 'dat';
		my %texts = ('', $text, 'us', stretched($text, 6));

		$own{"$like us"} //= [report_of(spew("$dir/stretched", stretched($text, 9)))];
		for my $unit ('', 'us') {
			my @theirs = report_of(spew("$dir/text", $texts{$unit}));
			my $own = $own{$unit ? "$like us" : $like};
			my @wrong = map { differences($reports[$_] =~ s/ .*//r, $own->[$_], $theirs[$_]) } 0 .. $#reports;

			check(!@wrong, "$what: " . @events . " events as $name" . ($unit && ' with microseconds'), @wrong);
		}
	}
}

my $generate = "$ENV{BUILD}/tests/truth/generate";
mkdir("$dir/22") or die;
system($generate, 22, 300, "$dir/22") == 0 or die "$generate failed\n";
compare("simulated, $_", "$dir/22/$_.dat") for qw(whole wakeup);

print "1..$n\n";
exit($failed ? 1 : 0);
