#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a person sees: every report, with its recordings and some of others (tests/Recordings.pm; in a soak all), on terminals of
# 80 and of 120 columns; colours; the pager. The terminals are those of script(1). It is the program itself that is started.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Temp qw(tempdir);
use POSIX qw(mkfifo);
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

if (system('command -v script >/dev/null') != 0) {
	print "1..0 # SKIP no script(1)\n";
	exit 0;
}
$ENV{SCHEDTAP} = $ENV{SCHEDTAP_PROGRAM};
delete @ENV{qw(COLUMNS NO_COLOR CLICOLOR_FORCE LESS PAGER)};
$ENV{TERM} = 'xterm';
$ENV{LC_ALL} = 'C.UTF-8';
chdir(tempdir(CLEANUP => 1)) or die;
mkfifo('go', 0600) or die;
my ($n, $failed) = (0, 0);

# check NAME, PROBLEM...: one TAP line.
sub check {
	my ($name, @problems) = @_;

	$n++;
	$failed++ if @problems;
	print @problems ? 'not ok ' : 'ok ', "$n - $name\n";
	splice(@problems, 10) if @problems > 10;
	print STDERR map { "#   $_\n" } @problems;
}

# What shell text prints on a terminal of so many columns. script(1) drops what is still on its way out of the terminal 10 ms after the shell
# ended. So the shell waits until all was read.
sub on_terminal {
	my ($columns, $shell) = @_;
	my ($text, $end) = ('', 'end of output');

	spew('typed', "stty cols $columns rows 24\n$shell\necho $end\nread -r go <go\n");
	open(my $out, '-|:encoding(UTF-8)', 'script -qec "sh ./typed" /dev/null </dev/null') or die;
	while (<$out>) {
		$text .= $_;
		next unless $text =~ s/$end\r\n\z//;
		open(my $go, '>', 'go') or die "go: $!\n";
	}
	close($out);
	return $text =~ s/\r\n/\n/gr;
}

# ---- every report fits ----

my @reports = ('summary', 'summary -g "/*"', 'timehist', 'timehist -wMV', 'timehist -e irq', 'timehist -S',
	'latency --hist --over-time --worst 5', 'latency --preempted --worst 5', 'explain', 'explain --by cgroup', 'critical --path', 'critical -t 10',
	'critical --between sched_entry,sched_exit --by pid', 'wakers', 'map', 'pelt', 'pelt --table -s "u*"',
	'pelt --table -t 100', 'pelt --verify -t 100', 'pelt --util-est', 'states', 'migrations', 'migrations --list', 'balance', 'placement', 'placement --list', 'resched', 'eevdf', 'monitor wwnr',
	'diff', 'diff --by task');

# Names in this folder, without blanks: short ones, for some reports print them.
sub names_of {
	return map { basename($_) =~ s/^golden-//r } @_;
}

symlink($_, (names_of($_))[0]) or die "$_: $!\n" for golden_recordings();
for my $columns (80, 120) {
	for my $report (@reports) {
		my ($command) = split(/ /, $report);
		# what fits the narrow one fits the wide one, mostly: there, the recordings of its own tests
		my $on = $command eq 'diff' ? '$f latency-many.dat' : '-i $f';
		my @files = grep { $columns == 80 || $command eq 'diff' || /^$command-/ } names_of(recordings_for($command));

		push(@files, 'states-many.dat') if $command eq 'diff'; # like latency-many.dat, which is the other side: both have a task of the same name
		my @lines = split(/\n/, on_terminal($columns, "export PAGER=cat NO_COLOR=1\n" .
			"for f in @files; do \$SCHEDTAP $report $on 2>/dev/null; done; echo all"));
		# where rows are printed one by one, a number of 11 digits shifts the columns after it
		my @wide = grep { length($_) > $columns && !/\d{11}\.\d/ } @lines;

		check("$report: fits $columns columns", (map { length($_) . ": $_" } @wide),
		      @lines < 5 || $lines[-1] ne 'all' ? 'not all was printed' : ());
	}
}

# ---- columns, colours, pagers ----

my $hist = 'timehist -i timehist-text.dat';
my $cases = [
	# name, columns, shell text, what must be in the output, and what must not
	['on 80 columns some are hidden', 80, "PAGER=cat \$SCHEDTAP $hist", qr/^hidden: .*; --wide$/ms, qr/prio  +waking/],
	['--wide hides none', 80, "PAGER=cat \$SCHEDTAP $hist --wide", qr/prio  +waking.*woken by/, qr/hidden/],
	['into a pipe all columns go', 80, "\$SCHEDTAP $hist | cat", qr/prio  +waking.*woken by/, qr/hidden|\e/],
	['COLUMNS overrides the terminal', 80, "PAGER=cat COLUMNS=300 \$SCHEDTAP $hist", qr/prio  +waking.*woken by/, qr/hidden/],
	['COLUMNS makes no terminal of a pipe', 80, "COLUMNS=40 \$SCHEDTAP $hist | cat", qr/prio  +waking/, qr/hidden/],
	['a terminal that does not know how wide it is has 80', 0, "PAGER=cat \$SCHEDTAP $hist", qr/hidden/, qr/prio  +waking/],
	['headers are bold, unknown is yellow, lost is red', 80, "PAGER=cat \$SCHEDTAP timehist -i timehist-unknown.dat",
	 qr/^\e\[1m *time .*\e\[m$(?s:.*)\e\[33munknown\e\[m(?s:.*)\e\[31mlost 120/m, qr/\e\[3[13]mmake/],
	['a count of what was lost is red, where it is not 0', 80, "PAGER=cat \$SCHEDTAP summary -i summary-page.dat", qr/\e\[31m +7\e\[m/, qr/\e\[31m +0\e/],
	['NO_COLOR: none', 80, "NO_COLOR=1 CLICOLOR_FORCE=1 PAGER=cat \$SCHEDTAP $hist", qr/hidden/, qr/\e/],
	['none on a dumb terminal', 80, "TERM=dumb PAGER=cat \$SCHEDTAP $hist", qr/hidden/, qr/\e/],
	['none in JSON', 80, "PAGER=cat \$SCHEDTAP $hist --json", qr/^\{"what":"slice"/m, qr/\e/],
	['CLICOLOR_FORCE: also into a pipe', 80, "CLICOLOR_FORCE=1 \$SCHEDTAP $hist | cat", qr/\e\[1m/, qr/hidden/],
	['--color always: whatever the environment says', 80, "NO_COLOR=1 TERM=dumb \$SCHEDTAP $hist --color always | cat", qr/\e\[1m/, qr/hidden/],
	['--color never, too', 80, "CLICOLOR_FORCE=1 PAGER=cat \$SCHEDTAP $hist --color never", qr/hidden/, qr/\e/],
	['--color auto is as without', 80, "PAGER=cat \$SCHEDTAP $hist --color auto; \$SCHEDTAP $hist --color auto | cat",
	 qr/\e\[1m.*^\s+time[^\e]*\z/ms, qr/not a colour/],
	['--color always: none in JSON', 80, "PAGER=cat \$SCHEDTAP $hist --color always --json", qr/^\{"what":"slice"/m, qr/\e/],
	['dump has it, too', 80, "\$SCHEDTAP dump -i dump-text.dat --color always | cat", qr/\e\[/, qr/hidden/],
	['map: a colour for each task, unknown is yellow, and all in its place', 80, "PAGER=cat \$SCHEDTAP map -i map-text.dat",
	 qr/^\e\[1m\*\e\[m\e\[36mA0\e\[m \.         1\.000100000  A0 => make/m, qr/>\e|\e\[\d*[^\d;m]/],
	['map without colour', 80, "PAGER=cat NO_COLOR=1 \$SCHEDTAP map -i map-text.dat", qr/^\*A0 \.         1\.000100000  A0 => make/m, qr/\e/],
	['balance: violations are red', 120, "PAGER=cat \$SCHEDTAP balance -i balance-text.dat",
	 qr/\e\[31mviolations, after a wakeup\e\[m(?s:.*)\e\[31m +100\.000\e\[m.*\e\[36m1\e\[m/, qr/\e\[31mviolations, after pre/],
	(map { my $width = $_; (
		["pelt: a line over an area, as wide as $width columns", $width, "PAGER=cat \$SCHEDTAP pelt -i pelt-overlay.dat -t 100 -s util,util_est",
		 qr/\e\[36m\x{2588}\e\[m util .*\n +\e\[35m\x{2500}\e\[m util_est (?s:.*)\e\[36m\x{2588}+\e\[35m\x{23ba}+\e\[m\n(?s:.*)^ {8}\x{2514}[\x{252c}\x{2500}]{@{[$width - 9]}}\n/m, qr/ \|/],
		["pelt: without colour it is two characters, $width columns", $width,
		 "PAGER=cat LC_ALL=C NO_COLOR=1 \$SCHEDTAP pelt -i pelt-overlay.dat -t 100 -s util,util_est",
		 qr/# util .*\n +o util_est (?s:.*)#+o+\n(?s:.*)^ {8}\+[+-]{@{[$width - 9]}}\n/m, qr/\e|[^\x00-\x7f]/],
		["latency over time, $width columns", $width, "PAGER=cat \$SCHEDTAP latency -i latency-over-time.dat --over-time",
		 qr/^16\.4 us \x{2502} +\e\[36m\x{2588}\e\[m\n(?s:.*)^unknown \x{2502} +\e\[33m\?+ .*\n {8}\x{2514}[\x{252c}\x{2500}]{@{[$width - 9]}}\n/m, qr/\+-/],
		["latency over time in ASCII, $width columns", $width,
		 "PAGER=cat LC_ALL=C NO_COLOR=1 \$SCHEDTAP latency -i latency-over-time.dat --over-time",
		 qr/^16\.4 us \| +#\n(?s:.*)^unknown \| +\?+ .*\n {8}\+[+-]{@{[$width - 9]}}\n/m, qr/\e|[^\x00-\x7f]/],
	) } 80, 120),
	['a report goes through the pager, as wide as the terminal', 80,
	 "PAGER='sed s/^/P:/' \$SCHEDTAP $hist; echo \$?", qr/^P:hidden: .*\e\[1m.*^0$/ms, qr/^[^P0]/m],
	(map { ["$_ goes through the pager", 80, "PAGER='sed s/^/P:/' \$SCHEDTAP $_", qr/^P:/, qr/^[^P]/m] }
		'dump -i dump-text.dat', 'help', 'help latency', '--help', 'summary --help', 'summary -i summary-page.dat'),
	['what fails before there is a report does not start it', 80,
	 "PAGER='sed s/^/P:/' \$SCHEDTAP summary -i none; echo \$?", qr/^schedtap: .*none.*^1$/ms, qr/^P:/m],
	['a command that fails after the pager started keeps its exit code, and the pager shows the error', 80,
	 "PAGER='sed s/^/P:/' \$SCHEDTAP summary -i summary-page.dat -C 7; echo \$?", qr/^P:schedtap: .*^1$/ms, qr/^schedtap/m],
	['a pager that is left early is no failure', 80,
	 "PAGER=true \$SCHEDTAP dump -i dump-text.dat; echo \$?", qr/^0$/m, qr/schedtap|sched:/],
	['an empty PAGER is none', 80, "PAGER= \$SCHEDTAP $hist; echo \$?", qr/hidden.*^0$/ms, qr/not found/],
	['less is asked to end where all fits, and to pass colours on', 80, "PAGER='env | grep ^LESS=' \$SCHEDTAP $hist",
	 qr/^LESS=FRX$/, qr/LESS=.*LESS=/s],
	['but the user has the last word', 80, "LESS=S PAGER='env | grep ^LESS=' \$SCHEDTAP $hist", qr/^LESS=S$/, qr/FRX/],
	['without less there is no pager', 80, "PATH=/none \$SCHEDTAP $hist", qr/hidden.*slice|hidden.*cc1/s, qr/not found/],
];
for my $case (@$cases) {
	my ($name, $columns, $shell, $want, $never) = @$case;
	my $got = on_terminal($columns, $shell);

	check($name, $got =~ $want ? () : "wants $want", $got =~ $never ? "has $never" : (),
	      $got =~ $want && $got !~ $never ? () : split(/\n/, $got));
}
print "1..$n\n";
exit($failed ? 1 : 0);
