#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/referee/run.t [COUNT [FIRST]]: a referee for reports. It makes schedules at random (Schedule.pm), each from a seed, and compares what
# reports say with what follows from the man pages and from what really happened. One module per report calculates that. It shares nothing with
# the program: who changes a report's meaning changes the man page and the referee, one independently of the other.
#
# Known faults of the program are counted, and each is a TODO at the end. A failed schedule prints its seed, the report, the key, what was
# expected and what was printed. REFEREE_KEEP=DIR keeps the recordings.
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::XS;
use List::Util qw(min);
use lib dirname(__FILE__) . '/..', dirname(__FILE__);
use Check;
use Compare;
use Critical;
use Explain;
use Files;
use Losses;
use Recordings;
use Schedule;
use States;
use Wakers;

my @reports = qw(States Wakers Explain Critical Check);
my ($count, $first) = ($ARGV[0] // ($ENV{SOAK} ? 500 : 30), $ARGV[1] // 1);
my $folder = memory_folder();
my $dir = $ENV{REFEREE_KEEP} // $folder;
my $failed = 0;
my %known; # known faults of the program: examples by what is wrong

# All that is asked about a schedule and about its recording with losses: about the whole, and about a window.
sub questions_about {
	my ($schedule, $lossy) = @_;
	my @ask = map { $_->can('questions') } @reports;
	my ($all, $window) = ([$schedule->{from}, $schedule->{to}], $schedule->{window});
	my $whole = $schedule->whole();
	my $part = $schedule->{events}[-1]{ns} > $window->[1] ? $schedule : $whole;
	my $time = sprintf(' --time %.9f,%.9f', map { $_ / 1e9 } @$window);

	return (about('full', '', map { $_->($whole, $all) } @ask), about('full', $time, map { $_->($part, $window) } @ask),
		about('lossy', '', Losses::questions($lossy->whole(), $all), Losses::check($lossy)),
		about('lossy', $time, Losses::questions($lossy->whole(), $window)));
}

# Questions about a recording, with an option.
sub about {
	my ($recording, $option, @questions) = @_;

	return map { { %$_, of => $recording, args => $_->{args} . $option } } @questions;
}

# The command that answers question NR about DIR/SEED-*.dat.
sub command {
	my ($question, $nr, $path) = @_;
	my $dat = "$path-$question->{of}.dat";
	my $rules = $question->{rules} ? spew("$path-$nr.rules", $question->{rules}) : '-i';

	return "\"\$SCHEDTAP\" $question->{args} $rules $dat";
}

# The differences between the report that a question is about, which printed GOT, and what it must say: [key, expected, got, reason], with a
# reason if the difference is a known fault of the program.
sub judge {
	my ($question, $got) = @_;
	my ($out, $status, $err) = @$got;
	my $args = "$question->{of}: $question->{args}";

	return [$args, 'a known exit status', "$status: $err"] if !grep { $status == $_ } @{$question->{status} // [0]};
	return if $out eq '';
	my $report = $question->{shape}->(decode_json($out));
	return map { [@$_, why_todo($question, @$_)] } differences($question->{want}, $report, $args);
}

# The reason for which a difference is known and does not count. A question has todo: [PATTERN, REASON], ...
sub why_todo {
	my ($question, @difference) = @_;
	my $text = text_of(@difference);

	return map { $_->[1] } grep { $text =~ $_->[0] } @{$question->{todo} // []};
}

sub text_of {
	my ($key, $want, $got) = @_;

	return "$key: expected $want, got $got";
}

# Print a schedule's line and its differences that are no known faults. Return: whether it failed.
sub shows {
	my ($schedule, $nr, @different) = @_;
	my @wrong = grep { !$_->[3] } @different;
	my $with = join(' ', grep { $schedule->{with}{$_} } sort(keys(%{$schedule->{with}})));

	print @wrong ? 'not ok' : 'ok', " $nr - seed $schedule->{seed}: ", scalar(@{$schedule->{events}}), " events; $with\n";
	print "# tests/referee/run.t 1 $schedule->{seed}: " . text_of(@$_) . "\n" for @wrong[0 .. min(9, $#wrong)];
	my %faults = map { $_->[3] => "seed $schedule->{seed}: " . substr(text_of(@$_), 0, 200) } grep { $_->[3] } @different;
	push(@{$known{$_}}, $faults{$_}) for keys(%faults);
	return @wrong > 0;
}

# A line for each known fault of the program that was seen, with an example.
sub shows_known {
	my ($nr) = @_;

	for (sort(keys(%known))) {
		print 'not ok ', $nr++, " - $_: ", scalar(@{$known{$_}}), " schedules # TODO\n# $known{$_}[0]\n";
	}
	print '1..', $nr - 1, "\n";
}

for my $seed ($first .. $first + $count - 1) {
	my $schedule = Schedule->new($seed);
	my $lossy = Losses::lossy($schedule);
	my @questions = questions_about($schedule, $lossy);
	my %text = (full => $schedule->text(), lossy => $lossy->text());
	my @make = map { my $path = "$dir/$seed-$_"; spew("$path.txt", $text{$_}); "\"\$MKDAT\" $path.txt $path.dat" } sort(keys(%text));
	my @got = commands(@make, map { command($questions[$_], $_, "$dir/$seed") } 0 .. $#questions);
	die "mkdat: $_->[2]" for grep { $_->[1] } splice(@got, 0, scalar(@make));
	$failed += shows($schedule, $seed - $first + 1, map { judge($questions[$_], $got[$_]) } 0 .. $#questions);
	unlink(glob("$dir/$seed-*")) if $dir eq $folder;
}
shows_known($count + 1);
exit($failed > 0);
