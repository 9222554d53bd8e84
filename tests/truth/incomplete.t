#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/truth/incomplete.t [TRIES [FIRST]]: what reports say of a damaged recording is what they say of the complete one, or unknown. The
# spool folder of a simulated recording is damaged as a power cut may do it: page files end early, have zeroed pages or are missing. Compressed
# files, which have checksums, have a flipped bit, too. TRIES of each kind of damage [5, in a soak 200], with seeds from FIRST [SEED, or 1] on.
#
# Compared within the damaged recording's window:
#   timehist     a slice lies within one of the same task and CPU; a CPU is idle only where it is; what a task did between two slices
#   summary, states   each sum s with unknown time u: s <= complete <= s + u
#   latency      each wait with a length is one of the complete recording's
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use List::Util qw(max min sum0);
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $generate = "$ENV{BUILD}/tests/truth/generate";
my $tries = $ARGV[0] // ($ENV{SOAK} ? 200 : 5);
my $first = $ARGV[1] // $ENV{SEED} // 1;
my $events = 4000; # some pages for each CPU
my @states = qw(run waking preempted throttled sleep blocked stopped);
my @waits = grep { $_ ne 'run' } @states;
my $json = JSON::XS->new->canonical;

for ($ENV{SCHEDTAP}, $generate, $ENV{MKDAT}) {
	next if -x;
	print "Bail out! $_ is missing\n";
	exit 1;
}

# ---- recordings --------------------------------------------------------------------------------

# The recording as lines for mkdat.
sub lines_of {
	my ($file) = @_;
	my ($dump) = runs("dump --json -i $file");
	my @lines;

	for (map { $json->decode($_) } split(/\n/, $dump->[0])) {
		my $f = $_->{fields} or next;
		next if $_->{event} eq 'sched:sched_wakeup'; # mkdat has none
		push(@lines, join(' ', $_->{ts_ns}, $_->{cpu}, $_->{tid}, $_->{event}, map { "$_=" . quoted($f->{$_}) } grep { !ref($f->{$_}) } sort keys %$f));
	}
	return @lines;
}

# Makes whole.dat, and whole.spool, which its recorder did not end.
sub make {
	my ($seed, $dir) = @_;

	system($generate, $seed, $events, $dir) == 0 or die "generate of seed $seed failed\n";
	my @lines = ('throttling', lines_of("$dir/whole.dat"));
	my ($cpus) = sort { $b <=> $a } map { / (\d+) / ? $1 + 1 : 0 } @lines;
	for (['whole', 'true', ''], ['cut', 'false', '--spool']) {
		my ($name, $complete, $how) = @$_;
		spew("$dir/$name.txt", join("\n", "cpus $cpus", qq(meta {"complete":$complete}), @lines) . "\n");
		system("$ENV{MKDAT} $dir/$name.txt $dir/$name.dat $how") == 0 or die "mkdat of $name failed\n";
	}
}

# ---- damage ------------------------------------------------------------------------------------

sub pages_of {
	my ($file) = @_;

	return int((-s $file) / 4096);
}

sub cut_file {
	my ($file) = @_;
	my $len = int(rand(1 + -s $file));

	truncate($file, $len) or die "$file: $!\n";
	return "$file ends at byte $len";
}

sub zero_page {
	my ($file) = @_;
	my $page = int(rand(pages_of($file)));
	my $bytes = slurp($file);

	substr($bytes, 4096 * $page, 4096) = "\0" x 4096;
	spew($file, $bytes);
	return "page $page of $file is zero";
}

sub flip_bit {
	my ($file) = @_;
	my $bytes = slurp($file);
	my $bit = int(rand(8 * length $bytes));

	vec($bytes, $bit, 1) ^= 1;
	spew($file, $bytes);
	return "bit $bit of $file is flipped";
}

# Each damages the page files. Return: what it did.
my %damage = (
	'ends at different times' => sub { join(', ', map { cut_file($_) } grep { rand() < 0.6 } @_) },
	'one file is cut' => sub { cut_file($_[rand @_]) },
	'zeroed pages' => sub { join(', ', map { zero_page($_[rand @_]) } 0 .. rand(3)) },
	'missing files' => sub { my $file = $_[rand @_]; unlink($file); return "$file is missing" },
);
# These damage a file that was packed.
my %packed_damage = (
	'compressed, a flipped bit' => \&flip_bit,
	'compressed, a missing end' => \&cut_file,
	'compressed, a zeroed page' => \&zero_page,
);

# Return: arguments of reports, and what was done.
sub damage_spool {
	my ($dir, $kind, $packs) = @_;

	system("rm -rf $dir/bad.* && cp -r $dir/cut.dat.spool $dir/bad.dat.spool") == 0 or die "cp failed\n";
	my $did = $damage{$kind}->(grep { -s } glob("$dir/bad.dat.spool/*.cpu*"));
	return ("$dir/bad.dat.spool", $did) if !$packs;
	runs("repair $dir/bad.dat.spool");
	return ("$dir/bad.dat", "$did, repaired");
}

sub damage_packed {
	my ($dir, $kind) = @_;

	system("$ENV{MKDAT} $dir/whole.txt $dir/bad.dat --zstd") == 0 or die "mkdat failed\n";
	return ("$dir/bad.dat", $packed_damage{$kind}->("$dir/bad.dat"));
}

# ---- reports -----------------------------------------------------------------------------------

my @reports = ('timehist --json', 'states --json', 'summary --json -n 100000', map { "latency$_ --json -n 100000 --worst 10000" } '', ' --preempted', ' --throttled');

# Return: { report => [object] }; undef: it was refused with a sentence.
sub reports_of {
	my ($file, $options) = @_;
	my @got = runs(map { "$_ $options -i $file" } @reports);
	my %said;

	for my $i (0 .. $#reports) {
		my ($name) = $reports[$i] =~ /^(\w+(?: --\w+ed)?)/;
		my ($out, $code, $err) = @{$got[$i]};

		die "$name of $file fails without a sentence: $code\n" if $code > 1 || ($code && $err !~ /^schedtap: .{10,}/m);
		return undef if $code;
		$said{$name} = [map { $json->decode($_) } split(/\n/, $out)];
	}
	return \%said;
}

sub seconds {
	my ($ns) = @_;

	return sprintf('%d.%09d', $ns / 1_000_000_000, $ns % 1_000_000_000);
}

# ---- what is compared --------------------------------------------------------------------------

my @wrong;

sub is_wrong {
	push(@wrong, join(' ', map { $_ // 'null' } @_));
}

sub overlap {
	my ($from, $to, $x) = @_;

	return max(0, min($to, $x->{to}) - max($from, $x->{from}));
}

# Slices by "TID" and by "cpu N", in their order, each with what was before.
sub slices_of {
	my ($rows, $end) = @_;
	my %slices;

	for my $r (grep { ($_->{what} // '') eq 'slice' } @$rows) {
		my $s = { %$r, from => $r->{time_ns}, to => $r->{time_ns} + $r->{run_ns} };
		push(@{$slices{$r->{tid}}}, $s);
		push(@{$slices{"cpu $r->{cpu}"}}, $s);
	}
	return \%slices;
}

# Slices that may overlap [from, to] in a list in order.
sub near {
	my ($list, $from, $to) = @_;

	return grep { $_->{from} <= $to && $_->{to} >= $from } @{$list // []};
}

# A slice is one of the complete recording's, or a part of one that says so.
sub check_slice {
	my ($s, $complete) = @_;
	my ($same) = grep { $_->{cpu} == $s->{cpu} && $_->{from} <= $s->{from} && $_->{to} >= $s->{to} } near($complete->{$s->{tid}}, $s->{from}, $s->{to});

	return is_wrong('slice', $s->{comm}, "[$s->{tid}] at $s->{from} for $s->{run_ns}: there is none") if !$same;
	is_wrong('slice', $s->{comm}, "[$s->{tid}] at $s->{from} for $s->{run_ns}: it is one of $same->{run_ns} from $same->{from}")
		if !$s->{censored} && ($same->{from} != $s->{from} || $same->{to} != $s->{to});
}

# What the task did between two slices.
sub check_gap {
	my ($s, $complete) = @_;
	my @said = grep { defined $s->{"${_}_ns"} } @waits, 'unknown';
	return if !@said || !defined $s->{unknown_ns};
	my $from = $s->{from} - sum0(map { $s->{"${_}_ns"} } @said);
	my (%least, %most);

	for my $c (near($complete->{$s->{tid}}, $from, $s->{from} + 1)) {
		$least{run} += overlap($from, $s->{from}, $c);
		my %gap = map { $_ => $c->{"${_}_ns"} // 0 } @waits, 'unknown';
		my $is_inside = $c->{from} - sum0(values %gap) >= $from && $c->{from} <= $s->{from};
		for (@waits) {
			$most{$_} += $gap{$_} + $gap{unknown} if $c->{from} > $from;
			$least{$_} += $gap{$_} if $is_inside;
		}
	}
	is_wrong('gap', $s->{comm}, "[$s->{tid}] before $s->{from}: it ran for $least{run}, unknown are $s->{unknown_ns}") if ($least{run} // 0) > $s->{unknown_ns};
	for (@waits) {
		my $ns = $s->{"${_}_ns"} // next;
		is_wrong('gap', $s->{comm}, "[$s->{tid}] before $s->{from}: $_ $ns, at most $most{$_}") if $ns > ($most{$_} // 0);
		is_wrong('gap', $s->{comm}, "[$s->{tid}] before $s->{from}: $_ $ns, unknown $s->{unknown_ns}, at least $least{$_}")
			if $ns + $s->{unknown_ns} < ($least{$_} // 0);
	}
}

# A CPU is idle where nothing ran and nothing is unknown.
sub check_idle {
	my ($rows, $slices, $complete, $window) = @_;
	my %busy;

	push(@{$busy{$_->{cpu}}}, [$_->{time_ns}, $_->{time_ns} + ($_->{run_ns} // $_->{unknown_ns})])
		for grep { ($_->{what} // '') =~ /^(slice|unknown)$/ } @$rows;
	for my $cpu (keys %busy) {
		my $at = $window->[0];
		for my $b ((sort { $a->[0] <=> $b->[0] } @{$busy{$cpu}}), [$window->[1], $window->[1]]) {
			if ($b->[0] > $at) {
				my ($ran) = grep { overlap($at, $b->[0], $_) } near($complete->{"cpu $cpu"}, $at, $b->[0]);
				is_wrong("CPU $cpu idle from $at to $b->[0]: $ran->{comm} [$ran->{tid}] ran from $ran->{from}") if $ran;
			}
			$at = max($at, $b->[1]);
		}
	}
}

sub check_timehist {
	my ($said, $complete, $window) = @_;
	my ($got, $want) = map { slices_of($_) } $said, $complete;

	for my $s (map { @{$got->{$_}} } grep { /^\d/ } sort keys %$got) {
		check_slice($s, $want);
		check_gap($s, $want);
	}
	check_idle($said, $got, $want, $window);
}

# Each sum with what is unknown.
sub check_sums {
	my ($what, $got, $want, $unknown, @sums) = @_;

	for (@sums) {
		my ($is, $all) = ($got->{"${_}_ns"} // 0, $want->{"${_}_ns"} // 0);
		is_wrong($what, "$_: $is, complete $all") if $is > $all;
		is_wrong($what, "$_: $is, unknown $unknown, complete $all") if $is + $unknown < $all - ($want->{unknown_ns} // 0);
	}
}

# Add up the rows of each tid, as a report may not distinguish a tid's lives.
sub by_tid {
	my ($rows) = @_;
	my %tids;

	for my $r (@$rows) {
		$tids{$r->{tid}}{$_} += $r->{$_} // 0 for grep { !ref($r->{$_}) && ($r->{$_} // '') =~ /^\d+$/ && $_ ne 'tid' } keys %$r;
	}
	return \%tids;
}

sub check_tasks {
	my ($report, $said, $complete) = @_;
	my ($got, $want) = map { by_tid($_->{tasks}) } $said, $complete;

	for (sort keys %$got) {
		my $c = $want->{$_} // {};
		# of a life whose birth and events are all missing there is no row, and so nothing is said
		my $not_said = max(0, ($c->{life_ns} // 0) - $got->{$_}{life_ns});

		check_sums("$report: tid $_", $got->{$_}, $c, $got->{$_}{unknown_ns} + $not_said, @states);
		for my $count (qw(slices migrations)) {
			is_wrong("$report: tid $_, $count") if ($got->{$_}{$count} // 0) > ($c->{$count} // 0);
		}
	}
}

sub check_cpus {
	my ($said, $complete) = @_;
	my %got = map { $_->{cpu} => $_ } @{$said->{cpus}};

	for my $c (@{$complete->{cpus}}) {
		my $is = $got{$c->{cpu}} // { unknown_ns => 0, switches => 0 };
		check_sums("CPU $c->{cpu}", $is, $c, $is->{unknown_ns}, qw(run idle offline));
		is_wrong("CPU $c->{cpu}, switches") if $is->{switches} > $c->{switches};
	}
}

sub check_latency {
	my ($report, $said, $complete) = @_;
	my %want = map { ("$_->{tid} $_->{from_ns} $_->{to_ns}" => 1) } @{$complete->{worst}};
	my ($got, $all) = map { by_tid($_->{tasks}) } $said, $complete;

	for (@{$said->{worst}}) {
		is_wrong("$report: tid $_->{tid} for $_->{wait_ns} from $_->{from_ns}: there is no such wait") if !$want{"$_->{tid} $_->{from_ns} $_->{to_ns}"};
	}
	for (sort keys %$got) {
		is_wrong("$report: tid $_ has $got->{$_}{count} waits, complete", $all->{$_}{count}) if $got->{$_}{count} > ($all->{$_}{count} // 0);
	}
}

sub check_head {
	my ($said) = @_;

	for my $report (sort keys %$said) {
		my $head = $said->{$report}[0]{recording};
		is_wrong("$report does not say that it is incomplete") if !defined $head->{complete} || $head->{complete} || length($head->{incomplete_because} // '') < 10;
	}
}

# Return: what is wrong in reports on $file.
sub judge {
	my ($file, $whole, $is_cut) = @_;
	my $said = reports_of($file, '') // return;
	my $head = $said->{summary}[0]{recording};
	my @window = @$head{qw(start_ns end_ns)};
	my $complete = reports_of($whole, '--time ' . join(',', map { seconds($_) } @window)) // return;

	@wrong = ();
	check_head($said) if $is_cut;
	check_timehist($said->{timehist}, $complete->{timehist}, \@window);
	check_tasks($_, $said->{$_}[0], $complete->{$_}[0]) for qw(states summary);
	check_cpus($said->{summary}[0], $complete->{summary}[0]);
	check_latency($_, $said->{$_}[0], $complete->{$_}[0]) for grep { /^latency/ } sort keys %$said;
	return @wrong;
}

# ---- the tests ---------------------------------------------------------------------------------

my $nr = 0;
my $failed = 0;
my $per_recording = 5; # tries

sub try_kind {
	my ($kind, $damage, $is_cut) = @_;
	my (@bad, $dir);

	for my $n (0 .. $tries - 1) {
		my $seed = $first + int($n / $per_recording);
		if ($n % $per_recording == 0) {
			$dir = memory_folder();
			make($seed, $dir);
		}
		srand($first + $n);
		my ($file, $did) = $damage->($dir, $kind, $n % 2);
		my @found = judge($file, "$dir/whole.dat", $is_cut);
		push(@bad, "try $n, seed $seed: $did:", map { "    $_" } @found > 4 ? (@found[0 .. 3], '...') : @found) if @found;
	}
	my $broke = grep { /^try/ } @bad;
	$nr++;
	$failed ||= @bad;
	print @bad ? 'not ' : '', "ok $nr - $kind: $broke of $tries tries are wrong\n";
	print STDERR map { "# $_\n" } @bad > 40 ? @bad[0 .. 39] : @bad;
}

print '1..', keys(%damage) + keys(%packed_damage), "\n";
try_kind($_, \&damage_spool, 1) for sort keys %damage;
try_kind($_, \&damage_packed, 0) for sort keys %packed_damage;
exit($failed ? 1 : 0);
