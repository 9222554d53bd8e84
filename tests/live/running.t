#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the recorder reads of each CPU at the start (`running` of schedtap-recording(5)) agrees with the switches around that time.
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::XS;
use List::Util qw(first);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $rounds = 10;
my $program = $ENV{SCHEDTAP} // dirname(__FILE__) . '/../../build/schedtap';
my $folder = memory_folder();
my $file = "$folder/running.dat";
my ($compared, @cpus, @differ) = (0);

# The tasks that a CPU ran from one time to another, by its switches.
sub ran {
	my ($from, $to, @switches) = @_;
	my $before = (grep { $_->{ts_ns} <= $from } @switches)[-1];
	my $after = first { $_->{ts_ns} > $from } @switches;

	return ((map { $_->{next_pid} } grep { $_->{ts_ns} > $from && $_->{ts_ns} <= $to } @switches),
		$before ? $before->{next_pid} : (), $after ? $after->{prev_pid} : ());
}

sub check {
	my (@running) = @_;
	my %switches;

	for (map { decode_json($_) } qx($program dump --json -e sched_switch -i $file)) {
		push(@{$switches{$_->{cpu}}}, { ts_ns => $_->{ts_ns}, %{$_->{fields}} });
	}
	for my $i (0 .. $#running) {
		my ($cpu, $tid, $at) = @{$running[$i]};
		my @ran = ran($at, $i < $#running ? $running[$i + 1][2] : $at + 1e9, @{$switches{$cpu} // []});
		next if !@ran;
		$compared++;
		push(@differ, "CPU $cpu ran $tid, not one of @ran") if !grep { $_ == $tid } @ran;
	}
}

plan(skip_all => 'needs root') if $>;
for (1 .. $rounds) {
	system("$program record -b bpf -e sched_switch -o $file -d 30ms >/dev/null 2>&1") == 0 or plan(skip_all => 'needs BPF');
	my ($running) = slurp($file) =~ /"running":(\[\[.*?\]\])/ or die "no running\n";
	my @running = @{decode_json($running)};
	push(@cpus, scalar(@running));
	check(@running);
}
chomp(my $online = qx(getconf _NPROCESSORS_ONLN));
is("@cpus", join(' ', ($online) x $rounds), 'each CPU that is online, in each recording');
cmp_ok($compared, '>=', $rounds, 'CPUs with switches are compared');
is("@differ", '', 'each ran what its switches say');
done_testing();
