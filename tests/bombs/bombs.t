#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Small recordings that ask for gigabytes of memory or minutes of CPU time (bombs.c): each command refuses them, or reads them at
# little cost, within 1 GB of address space and 20 s of CPU time. SOAK=1: all commands on all of them; else those that read all, and a few others of each.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use JSON::XS;
use POSIX qw(SIGXCPU);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $maker = dirname($schedtap) . '/tests/bombs/bombs';
my $limit_kb = 1 << 20;
my $limit_s = 20;
my $wait_s = 300; # on a busy machine
my $dir = tempdir(CLEANUP => 1);
chdir($dir) or die;

# The error with which each file is refused; undef: it is read like any other.
my %refused = (
	objects => 'its description would take more than 268 MB of memory', numbers => 'its description would take more than 268 MB of memory',
	names => 'its texts .* would take more than 268 MB of memory', symbols => undef,
	sharing => 'is damaged: several CPUs share their data', many_cpus => 'is damaged: it has more than 8192 CPUs',
	cpus => 'its CPUs would take more than 268 MB of memory', named_cpus => undef,
	formats => 'its texts .* would take more than 268 MB of memory', processes => undef, losses => undef, lost_cpu => undef,
	tasks => 'its tasks would take more than 268 MB of memory',
	zeros => 'its compressed events would take more than 268 MB,', same_page => 'its compressed events would take more than 268 MB,',
	perf_cpus => 'its CPUs would take more than 268 MB of memory', perf_late => undef, perf_tasks => undef,
	perf_unsorted => 'its unsorted events would take more than 268 MB of memory',
	perf_stacks => 'its stacks of forked processes would take more than 268 MB,',
	many_names => 'its filter has too many patterns of task names or cgroups', many_cgroups => 'its filter has too many patterns of task names or cgroups',
);
my @commands = ('summary', 'timehist', 'states', 'map', 'dump', 'pelt', 'latency', 'explain', 'critical -t 1', 'wakers', 'migrations', 'balance',
	'placement', 'resched', 'eevdf', 'monitor wwnr', 'diff FILE -- copy', 'check wakeup', 'export --to html -o out', 'export --to perfetto -o out',
	'export --to folded -o out', 'export --of waits -o out', 'repair --verify', 'view --no-browser');
my @always = ('summary', 'export --to html -o out', 'export --to perfetto -o out');
# These keep no state of what makes the bomb.
my %reads = map { $_ => 1 } (map({ "perf_stacks $_" } grep { !/^(?:dump|repair|export --to perfetto|export --to folded)/ } @commands),
	'cpus dump', 'tasks dump', 'perf_cpus dump', 'cpus repair --verify', 'tasks repair --verify', 'perf_cpus repair --verify');

my %all = map { $_ => 1 } split(' ', `$maker`);
is_deeply([sort keys %all], [sort keys %refused], 'the bombs are those that are expected');

# Return: what is wrong with how the command ends; '' if nothing is.
sub try_command {
	my ($bomb, $command) = @_;
	my $args = $command =~ /^diff/ ? $command =~ s/FILE/$bomb/r : $command =~ /^(?:check|view|repair)/ ? "$command $bomb" : "$command -i $bomb";
	my $for_s = $command =~ /^view/ ? 1 : $wait_s; # what it can open it serves, until it is asked for something
	my $why = $refused{$bomb};

	unlink('out');
	copy($bomb, 'copy') if $command =~ /^diff/;
	system("ulimit -v $limit_kb; ulimit -S -t $limit_s; timeout -s INT $for_s $schedtap $args >text 2>err");
	my $status = $?;
	my $said = slurp('err');

	return "it takes more than $limit_s s of CPU time" if $status >> 8 == 128 + SIGXCPU || ($status & 127) == SIGXCPU;
	return "it takes more than $wait_s s" if $status >> 8 == 124 && $command !~ /^view/;
	return "it ends by signal " . ($status & 127) . ": $said" if $status & 127 || $status >> 8 > 128;
	return "exit code " . ($status >> 8) . ": $said" unless ($status >> 8) =~ /^[0145]$/ || ($command =~ /^view/ && $status >> 8 == 124);
	return "it says nothing" if $status >> 8 == 1 && $said !~ /^schedtap: /m && $command !~ /^repair/;
	return "it cannot have memory: $said" if $said =~ /out of memory|cannot allocate/i;
	return '' if !defined($why) || $status >> 8 == 124 || $reads{"$bomb $command"} || $said =~ /has no(?:ne of)? |selection contains nothing/;
	return $status >> 8 == 1 && $said =~ /$why/ ? '' : 'exit code ' . ($status >> 8) . ", and does not say '$why': $said";
}

my $nr = 0;
for my $bomb (sort keys %refused) {
	my @tried = $ENV{SOAK} ? @commands : (@always, map { $commands[($nr + $_ * 7) % @commands] } 0 .. 1);
	$nr++;
	system($maker, $bomb, $bomb) and die "cannot make $bomb\n";
	cmp_ok(-s $bomb, '<', 4 << 20, "$bomb: it is small");
	my @wrong = map { my $wrong = try_command($bomb, $_); $wrong ? "$_: $wrong" : () } @tried;
	is(join("\n", @wrong), '', "$bomb: " . (defined($refused{$bomb}) ? 'refused' : 'read'));
	if ($bomb eq 'perf_late') {
		my $summary = JSON::XS->new->decode(scalar(`$schedtap summary --json -i $bomb 2>/dev/null`));
		my @last = `$schedtap dump --json -i $bomb 2>/dev/null` =~ /\b(\d{10,})\b/g;
		is($summary->{recording}{end_ns} - $summary->{recording}{start_ns}, 1000, 'a time of 2^63 is not the window\'s end');
		is_deeply([grep { $_ > 2000000000 } @last], [], 'nor anywhere');
	}
	unlink($bomb);
}
done_testing();
