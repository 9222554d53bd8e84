#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/truth/requests.t [COUNT [FIRST]]: what requests waited for, of simulated recordings, whole and damaged, and those of the golden
# tests. The pieces of each add up to what it waited and lie within it, and are those that `schedtap explain` has of the waits on its
# path, where all of these are within the request. The last line of TAP fails if nothing was compared. COUNT is 2, in a soak SEEDS [40] from
# SEED [1] on.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use List::Util qw(min sum0);
use lib dirname(__FILE__) . '/..';
use Recordings;

my $here = dirname(abs_path($0));
my $generate = "$ENV{BUILD}/tests/truth/generate";
require "$here/check";

my $count = $ARGV[0] // ($ENV{SOAK} ? $ENV{SEEDS} // 40 : 2);
my $first = $ARGV[1] // ($ENV{SOAK} ? $ENV{SEED} // 1 : 1);
# from an event to the next one of its kind in one task, or to another
my @between = map { join(",", @$_) } [qw(sched_switch sched_switch)], [qw(sched_waking sched_waking)], [qw(sched_waking sched_switch)], [qw(sched_entry sched_exit)];
my ($n, $failed, @compared) = (0, 0, 0, 0);

# The reports as JSON, or undef.
sub reports {
	my ($dat, @commands) = @_;

	return map { (objects($_->[0]))[0] } runs(map { "$_ -i $dat --json" } @commands);
}

# ns by kind and by who ran, and when it first was so
sub add_up {
	my %sum;

	for my $p (@_) {
		my $sum = $sum{"$p->{kind} " . ($p->{tid} // '')} //= { ns => 0, from_ns => $p->{from_ns} };

		$sum->{ns} += $p->{ns};
		$sum->{from_ns} = min($sum->{from_ns}, $p->{from_ns});
	}
	return \%sum;
}

# The path of a request's task in the time of the request.
sub path_of_request {
	my ($q) = @_;

	return "critical -t $q->{tid} --path --time " . join(',', map { sprintf('%d.%09d', $_ / 1e9, $_ % 1e9) } @$q{qw(from_ns to_ns)});
}

# The waits on a request's path, as another run has it: none if that is not the same path.
sub waits_of {
	my ($q, $c) = @_;
	my @waits = grep { $_->{state} =~ /^(?:waking|preempted)$/ } @{$c->{path} // []};

	return sum0(map { $_->{path_ns} } @waits) == $q->{waiting_ns} ? @waits : ();
}

# Returns how a request's components differ from those that explain gives for the same waits ($explained: waits by tid). A part of a wait must not
# have more of a component than the whole wait.
sub compare {
	my ($q, $path, $explained) = @_;
	my $got = add_up(@{$q->{pieces}});
	my $is_part = 0;
	my (@waits, @wrong);

	for my $s (waits_of($q, $path)) {
		my ($w) = grep { $_->{from_ns} <= $s->{from_ns} && $_->{to_ns} >= $s->{to_ns} } @{$explained->{$s->{tid}} // []} or return;

		$is_part ||= $w->{from_ns} != $s->{from_ns} || $w->{to_ns} != $s->{to_ns};
		push(@waits, $w);
	}
	return unless @waits;
	$compared[$is_part]++;
	my $want = add_up(grep { $_->{kind} ne 'throttled' } map { @{$_->{pieces}} } @waits);
	for my $key (keys %{{ %$got, %$want }}) {
		my ($g, $w) = map { $_->{$key} // { ns => 0, from_ns => 0 } } $got, $want;

		push(@wrong, "$key is $g->{ns} from $g->{from_ns}, explain has $w->{ns} from $w->{from_ns}")
			if $is_part ? $g->{ns} > $w->{ns} : $g->{ns} != $w->{ns} || $g->{from_ns} != $w->{from_ns};
	}
	return @wrong;
}

sub check_request {
	my ($q) = @_;
	my ($longest, @wrong) = $q->{longest_wait};
	my $sum = sum0(map { $_->{ns} } @{$q->{pieces}});

	push(@wrong, "pieces are $sum of $q->{waiting_ns}") if $sum != $q->{waiting_ns};
	push(@wrong, grep { $_ } map { "a piece of $_->{kind} is not within it" if !$_->{ns} || $_->{from_ns} < $q->{from_ns} ||
		$_->{from_ns} + $_->{ns} > $q->{to_ns} } @{$q->{pieces}});
	push(@wrong, 'the longest wait is not within it') if $longest && ($longest->{from_ns} < $q->{from_ns} || $longest->{to_ns} > $q->{to_ns} ||
		$longest->{to_ns} - $longest->{from_ns} > $q->{waiting_ns});
	push(@wrong, 'it has a longest wait, or has none') if !$longest != !$q->{waiting_ns};
	return @wrong;
}

sub check_dat {
	my ($dat, $name) = @_;
	my ($nr, @wrong) = 0;
	my ($e, @critical) = reports($dat, 'explain --worst 10000', map { "critical --between $_ -n 1000000" . (/entry/ ? ' --by pid' : '') } @between);
	my (%explained, @compare);

	return unless $e;
	push(@{$explained{$_->{tid}}}, $_) for @{$e->{waits}};
	for my $i (0 .. $#between) {
		my $left = 6; # a run each
		my @requests = sort { $b->{waiting_ns} <=> $a->{waiting_ns} || $a->{from_ns} <=> $b->{from_ns} } @{($critical[$i] // {})->{requests} // []};

		for my $q (@requests) {
			$q->{name} = "$name: $between[$i]: tid $q->{tid} $q->{from_ns} to $q->{to_ns}:";
			push(@compare, $q) if $q->{waiting_ns} && $left-- > 0;
			push(@wrong, map { "$q->{name} $_" } check_request($q));
			$nr++;
		}
	}
	my @paths = reports($dat, map { path_of_request($_) } @compare);
	for my $q (@compare) {
		push(@wrong, map { "$q->{name} $_" } compare($q, shift(@paths), \%explained));
	}
	return ($nr, @wrong);
}

sub check_all {
	my ($name, @dats) = @_;
	my ($requests, @wrong) = 0;

	for my $dat (@dats) {
		my ($nr, @of) = check_dat($dat, $dat =~ s{.*/}{}r) or next;

		$requests += $nr;
		push(@wrong, @of);
	}
	$n++;
	$failed ||= @wrong;
	print @wrong ? 'not ' : '', "ok $n - $name, $requests requests\n";
	unshift(@wrong, "tests/truth/requests.t 1 $1") if @wrong && $name =~ /^seed (\d+)/;
	print STDERR map { "# $_\n" } splice(@wrong, 0, 20);
}

unless (-x $ENV{SCHEDTAP} && -x $generate && -x $ENV{MKDAT}) {
	print "Bail out! $ENV{SCHEDTAP}, $generate or $ENV{MKDAT} is missing\n";
	exit 1;
}
for my $seed ($first .. $first + $count - 1) {
	my $folder = memory_folder();

	system($generate, $seed, 200 + $seed * 37 % 400, $folder) == 0 or die "$generate failed\n";
	check_all("seed $seed", sort glob("$folder/*.dat"));
}
check_all('golden tests', distinct(golden_recordings()));
$n++;
my $nothing = grep { !$_ } @compared;
$failed ||= $nothing;
print $nothing ? 'not ' : '', "ok $n - $compared[0] requests compared with explain, and $compared[1] with parts of waits\n1..$n\n";
exit($failed ? 1 : 0);
