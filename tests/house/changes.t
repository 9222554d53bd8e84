#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The changes that CONTRIBUTING.md shows (tests/changes/*.diff) fit the tree as it stands, take as many files as its
# table says, and work: in a copy, which is built with the objects that are there.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use List::Util qw(sum0);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my ($from, $b) = (dirname($schedtap), basename(dirname($schedtap)));
# of the make that runs this one: its variables, and nothing else
my ($variables) = ($ENV{MAKEFLAGS} // '') =~ / -- (.*)/;
my $make = "MAKEFLAGS= make -s -j2 B=$b " . ($variables // '');
my $guide = slurp("$top/CONTRIBUTING.md");
my $dir; # the copy

# The tree with what was not committed, and of the build what programs and recordings are made of.
sub copy_tree {
	$dir = tempdir(CLEANUP => 1);
	$ENV{GIT_CEILING_DIRECTORIES} = dirname(abs_path($dir));
	make_path("$dir/$b/tests/unit");
	system("cd $top && git ls-files -z -co --exclude-standard | tar -c --ignore-failed-read --null -T - 2>/dev/null | " .
	       "tar -x -C $dir") == 0 or die "cannot copy the tree\n";
	system("cd $from && cp -a --reflink=auto src bpf libschedtap.a schedtap $dir/$b && " .
	       "cp -a --reflink=auto tests/mkdat tests/mkdat.d $dir/$b/tests") == 0 or die "cannot copy the build\n";
}

# What @_ prints, both outputs, in the copy.
sub says {
	my ($command) = @_;

	return scalar(`cd $dir && { $command; } 2>&1`);
}

sub recording {
	my ($text) = @_;

	spew("$dir/in.txt", $text);
	is(says("$b/tests/mkdat in.txt in.dat"), '', 'a recording is made');
}

my $pairs = slurp("$top/tests/golden/wakers/pairs/in.txt");

sub event_works {
	like(says("$b/schedtap list"), qr/^\S+ +power:cpu_idle\b.*\n\S+ +power:cpu_idle_miss\b/m, 'it is listed');
	like(says("readelf -sW $b/bpf/schedtap.bpf.o"), qr/ FUNC .*\bcpu_idle_miss__cpu_idle_miss$/m, 'it has a BPF program');
	like(says("$b/tests/unit/test_defs"), qr/\A(?!.*^not ok).*^ok/ms, 'its format parses');
	recording("1.000000100 0 0 power:cpu_idle_miss cpu_id=3 state=2 below=1\n");
	like(says("$b/schedtap dump -i in.dat"), qr/: power:cpu_idle_miss: cpu_id=3 state=2 type=below\n\z/, 'it is printed');
}

sub report_works {
	recording($pairs);
	is(says("$b/schedtap slices -i in.dat | tail -n +2"), <<'END', 'text');
task                          slices     avg us     max us
make [100]                         1    400.000    400.000
cc1 [101/100]                      2    235.000    390.000
ld [102]                           1    150.000    150.000
kw/1 [8]                           1     20.000     20.000
END
	like(says("$b/schedtap slices -i in.dat -t 101 --json"), qr/,"tasks":\[\{"tid":101,"tgid":100,"comm":"cc1","count":2,"avg_ns":235000,"max_ns":390000\}\]\}\n\z/, 'JSON');
	is(says("$b/schedtap slices -i in.dat -t 101 --csv"), <<'END', 'CSV');
tid,tgid,comm,count,avg_ns,max_ns
101,100,cc1,2,235000,390000
END
	like(says("$b/schedtap slices -i in.dat -n 1"), qr/^3 more tasks/m, '-n');
	like(says("$b/schedtap slices -i in.dat -t 5"), qr/^schedtap: -t: there is no thread '5'/m, 'an option that fits nothing');
}

sub option_works {
	recording($pairs);
	for my $command (qw(dump summary latency states)) {
		my $with = says("$b/schedtap $command -i in.dat -p 100");
		my $without = says("$b/schedtap $command -i in.dat -p 100 -q");

		like($with, qr/^schedtap: -p leaves out 2 tasks/m, "$command has a note");
		is($without, $with =~ s/^schedtap: .*\n//mr, '... and none with the option');
	}
}

sub style_works {
	recording($pairs);
	is(says("$b/schedtap wakers -i in.dat -t 9 --tsv"), join("\t", qw(waker_tid waker_tgid waker_comm tid tgid comm count
		censored avg_ns p99_ns max_ns same_cpu other_cpu)) . "\n" . join("\t", 100, 100, 'make', 9, '', 'kw/2', 1, 1, '', '', '',
		0, 0) . "\n", 'a report');
	like(says("$b/schedtap dump -i in.dat -t 101 -e sched_switch --tsv"), qr/\Ats_ns\tcpu\ttid\ttgid\tcomm\tevent\tfields\n1000170000\t1\t8\t\tkw\/1\tsched:sched_switch\tprev_comm=kw\/1 /, 'events');
	like(says("$b/schedtap dump -i in.dat --tsv --csv"), qr/--tsv and --csv exclude each other/, 'one style at a time');
}

# What CONTRIBUTING.md calls it in its table, and how it shows that it works.
my %changes = (
	event => { row => 'an event', works => \&event_works },
	report => { row => 'a report', works => \&report_works },
	option => { row => 'an option of all that read a recording', works => \&option_works },
	style => { row => 'a style for results and events', works => \&style_works },
);

# Return: how many files, and lines at most, or undef, the table says that @row takes.
sub bounds {
	my ($row) = @_;
	my ($files, $lines) = $guide =~ /^\| \Q$row\E \| (\d+)(?: of (\d+) lines)?: /m;

	return ($files, $lines);
}

# Return: the lines of the indented block that follows the line naming $diff in CONTRIBUTING.md.
sub quoted {
	my ($diff) = @_;
	my ($block) = $guide =~ /`tests\/changes\/\Q$diff\E`[^\n]*\n\n((?: {4}.*\n)+)/;

	return map { s/^ {4}//r } split(/\n/, $block // '');
}

# Check that the quoted lines are in the diff, in the same order; "..." stands for omitted lines.
sub check_quotes {
	my ($diff) = @_;
	my @lines = split(/\n/, slurp("$top/tests/changes/$diff"));
	my @quoted = grep { $_ ne '...' } quoted($diff);
	my @wrong;

	for my $quote (@quoted) {
		shift(@lines) while @lines && $lines[0] ne $quote;
		push(@wrong, $quote) unless @lines;
	}
	cmp_ok(scalar(@quoted), '>=', 3, 'CONTRIBUTING.md quotes it');
	is(join("\n", @wrong), '', '... as it is');
}

# An own header, built in: its events are what `list --define` says of it without a build.
sub header_works {
	my ($built_in, $read) = map { s/^\s*ID: .*\n//mgr } says("$b/schedtap list -v 'own:*'"),
		says("$schedtap list -v --define $top/examples/own_events.h");

	like($built_in, qr/own:task_demand\n.*own:\w+\n/s, 'it is listed');
	is($read, $built_in, 'it is what is read at run time');
}

# One build has them all: most of the time is compiling what includes a header that one of them changes.
copy_tree();
for my $name (sort(keys(%changes))) {
	my $change = $changes{$name};
	my $diff = "$top/tests/changes/$name.diff";

	subtest("$name: the change" => sub {
		my ($files, $lines) = bounds($change->{row});
		my @added = says("git apply --numstat $diff") =~ /^(\d+)\t/mg;
		is(says("git apply $diff"), '', 'it fits');
		is(scalar(@added), $files, 'it takes as many files as its row says');
		cmp_ok(sum0(@added), '<=', $lines, '... and no more lines') if $lines;
		check_quotes("$name.diff");
	});
}
says('cp examples/own_events.h events/ && echo \'#include "own_events.h"\' >>events/all.h');
unlike(says("$make " . join(' ', map { "$b/$_" } qw(schedtap tests/mkdat tests/unit/test_defs))), qr/error|\*\*\*/i, 'they build');
subtest($_ => $changes{$_}{works}) for sort(keys(%changes));
subtest('an own header' => \&header_works);
is(join(' ', sort(map { basename($_, '.diff') } glob("$top/tests/changes/*.diff"))), join(' ', sort(keys(%changes))),
   'each change is tried');
done_testing();
