#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/truth/requests.t [COUNT [FIRST]]: what requests waited for, of simulated recordings, whole and damaged, and those of the golden
# tests. The pieces of each add up to what it waited and lie within it, and are those that `schedtap explain` has of the waits on its
# path, where all of these are within the request. The last line of TAP fails if nothing was compared.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use List::Util qw(min sum0);

my $here = dirname(abs_path($0));
my $build = dirname(abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap"));
my $generate = "$build/tests/truth/generate";
my $mkdat = $ENV{MKDAT} // "$build/tests/mkdat";
my $schedtap = $ENV{SCHEDTAP} = "$build/schedtap";
require "$here/check";

my $count = $ARGV[0] // 2 + int(($ENV{SEEDS} // 120) / 30);
my $first = $ARGV[1] // 1;
# from an event to the next one of its kind in one task, or to another
my @between = map { join(",", @$_) } [qw(sched_switch sched_switch)], [qw(sched_waking sched_waking)], [qw(sched_waking sched_switch)], [qw(sched_entry sched_exit)];
my ($n, $failed, @compared) = (0, 0, 0, 0);

# The report as JSON, or nothing.
sub first_of {
	my ($command, $dat) = @_;
	my ($o) = objects(scalar qx($schedtap $command -i $dat --json 2>/dev/null));

	return $o;
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

# The waits on a request's path, as another run has it: none if that is not the same path.
sub waits_of {
	my ($dat, $q) = @_;
	my $c = first_of("critical -t $q->{tid} --path --time " . join(',', map { sprintf('%d.%09d', $_ / 1e9, $_ % 1e9) } @$q{qw(from_ns to_ns)}), $dat);
	my @waits = grep { $_->{state} =~ /^(?:waking|preempted)$/ } @{$c->{path} // []};

	return sum0(map { $_->{path_ns} } @waits) == $q->{waiting_ns} ? @waits : ();
}

# What is wrong with a request's pieces, other waits being in $explained: by tid. Of a part of a wait there is no more than of all of it.
sub compare {
	my ($dat, $q, $explained) = @_;
	my $got = add_up(@{$q->{pieces}});
	my $is_part = 0;
	my (@waits, @wrong);

	for my $s (waits_of($dat, $q)) {
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
	my $e = first_of('explain --worst 10000', $dat) or return;
	my %explained;

	push(@{$explained{$_->{tid}}}, $_) for @{$e->{waits}};
	for my $between (@between) {
		my $c = first_of("critical --between $between -n 1000000" . ($between =~ /entry/ ? ' --by pid' : ''), $dat) or next;
		my $left = 6; # a run each
		my @requests = sort { $b->{waiting_ns} <=> $a->{waiting_ns} || $a->{from_ns} <=> $b->{from_ns} } @{$c->{requests}};

		for my $q (@requests) {
			my @of = check_request($q);

			push(@of, compare($dat, $q, \%explained)) if $q->{waiting_ns} && $left-- > 0;
			push(@wrong, map { "$name: $between: tid $q->{tid} $q->{from_ns} to $q->{to_ns}: $_" } @of);
			$nr++;
		}
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
	print STDERR map { "# $_\n" } splice(@wrong, 0, 20);
}

unless (-x $schedtap && -x $generate && -x $mkdat) {
	print "Bail out! $schedtap, $generate or $mkdat is missing\n";
	exit 1;
}
for my $seed ($first .. $first + $count - 1) {
	my $folder = tempdir('schedtap-requests-XXXXXX', DIR => -w '/dev/shm' ? '/dev/shm' : '/tmp', CLEANUP => 1);

	system('timeout', 10, $generate, $seed, 200 + $seed * 37 % 400, $folder) == 0 or die "$generate failed\n";
	check_all("seed $seed", sort glob("$folder/*.dat"));
}
my $golden = tempdir(CLEANUP => 1);
for my $in (sort glob("$here/../golden/*/*/in.txt")) {
	my $name = $in =~ s{.*golden/(.*)/in\.txt}{$1}r =~ s{/}{-}r;

	system("$mkdat $in $golden/$name.dat 2>/dev/null");
}
check_all('golden tests', sort glob("$golden/*.dat"));
$n++;
my $nothing = grep { !$_ } @compared;
$failed ||= $nothing;
print $nothing ? 'not ' : '', "ok $n - $compared[0] requests compared with explain, and $compared[1] with parts of waits\n1..$n\n";
exit($failed ? 1 : 0);
