#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The examples of the README, docs/filters.md, the man pages and --help run as they stand: `schedtap ...` lines, in
# order, each page in a folder of its own that holds a recording under the names that they use, and a Makefile.
use strict;
use warnings;
use Cwd qw(abs_path getcwd);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use lib dirname(__FILE__) . '/..';
use Files;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
if ($> != 0) {
	print "1..0 # SKIP not root\n";
	exit 0;
}

my %lines;
for my $page ("$top/README.md", "$top/docs/filters.md", glob("$top/docs/man/*.1.md")) {
	$lines{$page} = [map { /^    (schedtap [a-z].*)/ ? $1 =~ s/\s+#.*//r : () } split(/\n/, slurp($page))];
}
my @without = @{$lines{"$top/README.md"}} ? () : 'README.md'; # and commands
for my $cmd (grep { $_ ne 'help' } split(' ', `$schedtap __complete -- ''`)) {
	my ($example) = `$schedtap help $cmd` =~ /^\s*(?:example:\s*)?(schedtap $cmd\b.*)$/mi;
	push(@{$lines{'--help'}}, $example) if $example;
	push(@without, $cmd) unless $example && @{$lines{"$top/docs/man/schedtap-$cmd.1.md"} // []};
}

# Its first two seconds: another line of the page may have recorded it anew.
sub window {
	my ($file) = @_;
	my ($start) = `schedtap dump -i $file` =~ /\] +(\d+)\.\d+:/;

	return "$start," . ($start + 2);
}

my $bin = tempdir(CLEANUP => 1);
symlink($schedtap, "$bin/schedtap") or die;
$ENV{PATH} = "$bin:$ENV{PATH}";

my $total = 0;
$total += @{$lines{$_}} for keys %lines;
print '1..' . ($total + 1) . "\n";
my $n = 0;
for my $page (sort keys %lines) {
	my $dir = tempdir(CLEANUP => 1);
	chdir($dir) or die;
	open(my $f, '>', 'Makefile') or die;
	# something is to be seen in it: a task that goes from one CPU to the other and back, and a compiler
	print $f q(all:) . "\n\t" . q(for c in 0 1 0; do taskset -p -c $$c $$$$; sleep 0.07; done) . "\n\t" .
		 q(cp /bin/sleep cc1 && ./cc1 0.1) . "\n";
	close($f);
	system('schedtap record -o trace.dat --stack sched_switch --stack sched_waking -- make >/dev/null 2>&1; ' .
	       'schedtap record -o resched.dat -e resched -e idle -e irq -e sched -- sleep 0.1 2>/dev/null; ' .
	       'for f in make svc stacks old new run1 run2 run3; do cp trace.dat $f.dat; done; ' .
	       'mkdir demo ci; cp trace.dat demo; cp trace.dat ci; echo "rule lost : recording.lost == 0" >my.rules');
	symlink("$top/examples", 'examples') or die;
	for my $line (@{$lines{$page}}) {
		my $run = $line;
		my $want = 0;

		# what a page says about another machine's recording, said about this one
		$run =~ s/--time \S+/'--time ' . window($run =~ m{([\w\/]+\.dat)} ? $1 : 'trace.dat')/e;
		$run =~ s/request_start,request_done --by id/sched_waking,sched_migrate_task --by pid/;
		$run =~ s/^(schedtap (?:record(?!.* -d )(?!.* -- )|view).*)/timeout -s INT 1 $1/;
		$run =~ s/^schedtap mark/schedtap record -o marked.dat -- $&/; # into a recording that runs
		$run =~ s/^schedtap list --enabled/schedtap record -o on.dat -- $&/; # while something is on
		# nothing is there to repair, no program has that pid, and they say so
		$want = 1 if $line =~ /^schedtap (?:repair|tracefs)/;
		my $is_verdict = $line =~ /^schedtap check/; # whatever it is
		my $out = `( $run ) 2>&1 >/dev/null`;
		my $code = $? >> 8;
		$n++;
		$code = 0 if ($run =~ /^timeout/ && $code == 124) || ($is_verdict && ($code == 4 || $code == 5));
		my $name = ($page =~ s{.*/}{}r) . ": $line";
		$name =~ s/#/\\#/g;
		print $code == $want ? 'ok' : 'not ok', " $n - $name\n";
		print STDERR "# exit $code: $out\n" if $code != $want;
	}
	chdir('/');
}
print @without ? 'not ' : '', "ok ", $n + 1, " - all commands have examples (@without)\n";
