#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings of older versions (VERSION/, see VERSION/README.md): each report prints what VERSION/expected/ has, which the program of
# that version printed. A report's JSON may gain keys; every older key keeps its value. The test also computes counts of events and
# run times from the events alone, and compares them with the reports.
#
# UPDATE=KIND SCHEDTAP=PROGRAM writes expected/KIND.gz: with PROGRAM of that version, unless VERSION/README.md has a reason.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use IO::Compress::Gzip qw(gzip);
use IO::Uncompress::Gunzip qw(gunzip);
use JSON::XS;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $tmp = memory_folder();
my ($nr, $failed) = (0, 0);
$ENV{LC_ALL} = 'C';
$ENV{TZ} = 'UTC';
END { chdir('/') } # to be removed, a folder must not be the current one

# FILE is the recording.
my @reports = ('dump FILE', map { "$_ --json FILE" } 'summary', 'summary -g "/*"', 'timehist -s', 'timehist -wM',
	'latency --hist --over-time --worst 5', 'latency --preempted', 'explain', 'explain --by task', 'critical', 'critical -c load --path',
	'wakers', 'wakers --stacks', 'map', 'pelt', 'pelt -s "*"', 'pelt --verify', 'pelt --util-est', 'states', 'migrations',
	'migrations --list', 'balance', 'placement', 'placement --list', 'resched', 'eevdf', 'monitor wwnr', 'monitor tss', 'check asserted.rules');
push(@reports, 'diff --json plain.dat -- FILE', 'export --to folded --of off-cpu FILE');
# Exports must succeed; their output is not compared.
my @exports = map { "export --to $_ -o - FILE" } qw(perfetto ftrace csv html);

# What a later version says differently on purpose: in which differences, and why.
my @changed = (
	# a child begins in its parent's cgroup, where 0.1 did not know it
	qr/(?:\.cgroup|\.throttling_possible): is .*, not null$/,
	qr/: explain.*: \[\]\.cgroups\[\]/,
	qr/: summary.*: \[\]\.cgroups\[\]/,
	qr/: summary -g .*: \[\]\.tasks\[\]/,
	# sched_dl_pick gives two more metrics: of the fair class's server and of sched_ext's
	qr/module\.dat: diff .*: \[\]\.nr_partial: is 27, not 25$/,
);

sub ok {
	my ($name, @wrong) = @_;

	$nr++;
	$failed = 1 if @wrong;
	print @wrong ? 'not ok ' : 'ok ', "$nr - $name\n";
	splice(@wrong, 10) if @wrong > 10;
	print STDERR map { "# $_\n" } @wrong;
}

# Of each of these runs on a recording: [what it prints, exit status, its errors].
sub runs_on {
	my ($file, @runs) = @_;

	return runs(map { s/\bFILE\b/$file/r } @runs);
}

# ---- against the older version -----------------------------------------------------------------

sub write_expected {
	my ($path, @ran) = @_;
	my $text = join('', map { "@@ $reports[$_]\n$ran[$_][0]@@ exit $ran[$_][1]\n" } 0 .. $#reports);

	gzip(\$text => \my $packed, -Level => 9, -Minimal => 1) or die $path;
	spew($path, $packed);
}

# Return: { report => [what it prints, exit status] }
sub read_expected {
	my ($path) = @_;
	my $packed = slurp($path);
	my (%expected, $text);

	gunzip(\$packed => \$text) or die "$path: not gzip\n";
	$expected{$1} = [$2, $3] while $text =~ /^@@ (?!exit)(.*)\n((?s:.*?))^@@ exit (\d+)$/mg;
	return \%expected;
}

# Adds to @$differ each place where @$new lacks what @$old has, or has another value.
sub compare {
	my ($path, $old, $new, $differ) = @_;
	my $text = sub { defined $_[0] ? ref $_[0] ? encode_json([$_[0]]) : $_[0] : 'null' };

	return if $path =~ /\.warnings$/; # sentences, which may be reworded, or more
	if (ref $old eq 'HASH' && ref $new eq 'HASH') {
		for my $key (sort keys %$old) {
			exists $new->{$key} ? compare("$path.$key", $old->{$key}, $new->{$key}, $differ) : push(@$differ, "$path.$key: is missing");
		}
	} elsif (ref $old eq 'ARRAY' && ref $new eq 'ARRAY') {
		push(@$differ, "$path\[]: has @{[scalar @$new]} elements, not @{[scalar @$old]}") if @$old != @$new;
		compare("$path\[]", $old->[$_], $new->[$_], $differ) for 0 .. ($#$old < $#$new ? $#$old : $#$new);
	} elsif (($text->($old) ne $text->($new)) && !nearly($old, $new)) {
		push(@$differ, "$path: is @{[$text->($new)]}, not @{[$text->($old)]}");
	}
}

# Other compilers round the last digit of a fraction in another way.
sub nearly {
	my ($x, $y) = @_;

	return 0 if grep { !defined || ref || !/^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/ } $x, $y;
	return "$x$y" =~ /\./ && abs($x - $y) <= 1e-9 * abs($x);
}

# Return: how a report differs.
sub differences {
	my ($kind, $report, $old, $new) = @_;
	my @differ;

	return ("exit status $new->[1], not $old->[1]: $new->[2]") if $new->[1] != $old->[1];
	if ($report !~ /--json/) {
		my @old = split(/\n/, $old->[0]);
		my @new = split(/\n/, $new->[0]);
		@differ = map { "line @{[$_ + 1]}: is '" . ($new[$_] // '') . "', not '" . ($old[$_] // '') . "'" }
			grep { ($old[$_] // '') ne ($new[$_] // '') } 0 .. ($#old > $#new ? $#old : $#new);
	} else {
		my @old = map { decode_json($_) } split(/\n/, $old->[0]);
		my @new = map { decode_json($_) } split(/\n/, $new->[0]);
		compare('', \@old, \@new, \@differ);
	}
	return grep { my $what = "$kind: $report: $_"; !grep { $what =~ $_ } @changed } @differ;
}

# ---- against the events alone ------------------------------------------------------------------

# Return: counts of events in the window by kind, ns of run time by task, and busy and idle ns by CPU.
sub sums_of {
	my ($dump, $window, $is_complete) = @_;
	my (%kinds, %ran, %busy, %idle, %on, %last);
	my $add = sub {
		my ($cpu, $tid, $from, $to) = @_;
		my $ns = ($to < $window->[1] ? $to : $window->[1]) - $from;

		return if $ns <= 0;
		$ran{$tid} += $ns if $tid;
		($tid ? $busy{$cpu} : $idle{$cpu}) += $ns;
	};

	for my $e (map { decode_json($_) } grep { /"event"/ } split(/\n/, $dump)) {
		my ($t, $cpu, $f) = @$e{qw(ts_ns cpu fields)};

		# reports use no event from before the window
		next if $t < $window->[0];
		$kinds{$e->{event}}++ if $t <= $window->[1];
		$last{$cpu} = $t;
		next if $e->{event} ne 'sched:sched_switch';
		# the first switch also shows what ran since the window's start
		my $on = $on{$cpu} // [$f->{prev_pid}, $window->[0]];
		# a switch is missing where another task is switched from
		$add->($cpu, @$on, $t) if $on->[0] == $f->{prev_pid};
		$on{$cpu} = [$f->{next_pid}, $t];
	}
	# the last ones run to the end; of an incomplete recording to the CPU's last event, for that is as far as it is known
	$add->($_, @{$on{$_}}, $is_complete ? $window->[1] : $last{$_}) for keys %on;
	return (\%kinds, \%ran, \%busy, \%idle);
}

# Return: differences between the reports and the events.
sub check_sums {
	my ($kind, $said) = @_;
	my $summary = decode_json($said->{'summary --json FILE'}[0]);
	my $states = decode_json($said->{'states --json FILE'}[0]);
	my ($dump) = runs("dump --json $kind");
	my ($kinds, $ran, $busy, $idle) = sums_of($dump->[0], [@{$summary->{recording}}{qw(start_ns end_ns)}],
		$summary->{recording}{complete} // 1);
	my @wrong;

	if (my $only = $summary->{recording}{filter}) { # others have events, and no time
		my %said = map { $_->{tid} => 1 } @{$states->{tasks}};

		delete @$ran{grep { !$said{$_} } keys(%$ran)};
		%$busy = %$idle = ();
	}
	compare('kinds', $kinds, { map { ($_->{event} => $_->{count}) } @{$summary->{kinds}} }, \@wrong);
	compare('ran', $ran, { map { ($_->{tid} => $_->{run_ns}) } @{$states->{tasks}} }, \@wrong);
	compare('busy', $busy, { map { ($_->{cpu} => $_->{run_ns}) } @{$summary->{cpus}} }, \@wrong);
	compare('idle', $idle, { map { ($_->{cpu} => $_->{idle_ns}) } @{$summary->{cpus}} }, \@wrong);
	return (scalar(keys %$ran) < 2 ? 'hardly a task ran' : (), @wrong);
}

# ---- the tests ---------------------------------------------------------------------------------

sub by_report {
	my (@ran) = @_;

	return { map { ($reports[$_] => $ran[$_]) } 0 .. $#reports };
}

# The reports on a repaired spool folder are those on the folder.
sub check_repaired {
	my ($kind, $expected) = @_;
	my $file = $kind =~ s/\.spool$//r;

	mkdir("$tmp/repaired");
	for my $how ('', ' --compress zstd') {
		mkdir("$tmp/repaired/$kind");
		copy($_, "$tmp/repaired/$kind/" . s{.*/}{}r) or die "$_: $!\n" for glob("$kind/*");
		copy('plain.dat', "$tmp/repaired/plain.dat") or die "plain.dat: $!\n";
		copy('asserted.rules', "$tmp/repaired/asserted.rules") or die "asserted.rules: $!\n";
		my $from = Cwd::getcwd();
		chdir("$tmp/repaired") or die "$tmp/repaired: $!\n";
		my ($repair) = runs("repair$how $kind");
		ok("$kind: repair$how", $repair->[1] ? $repair->[2] : (), -e $kind ? 'the folder is still there' : ());
		my $new = by_report(runs_on($file, @reports));
		$_->[0] =~ s/\.spool\b//g for values(%$expected), values(%$new); # names that reports print
		ok("$kind: repaired$how: $_", grep { !/recording\.packed: / } differences($kind, $_, $expected->{$_}, $new->{$_})) for @reports;
		unlink($file);
		chdir($from) or die "$from: $!\n";
	}
}

for my $version (map { dirname($_) } glob("$here/*/README.md")) {
	chdir($version) or die "$version: $!\n";
	my @kinds = sort(glob('*.dat *.spool'));
	my @missing = grep { !-e } map { s{.*/(.*)\.gz$}{$1}r } glob('expected/*.gz');

	ok(basename($version) . ': recordings', @kinds ? () : 'none', map { "no $_" } @missing);
	for my $kind (@kinds) {
		my $path = "$version/expected/$kind.gz";
		my @ran = runs_on($kind, @reports);

		write_expected($path, @ran) if $kind eq ($ENV{UPDATE} // '');
		my ($expected, $said) = (read_expected($path), by_report(@ran));
		ok("$kind: $_", $expected->{$_} ? differences($kind, $_, $expected->{$_}, $said->{$_}) : "not in '$path'") for @reports;
		ok("$kind: the events say the same", check_sums($kind, $said));
		ok("$kind: exports", map { $_->[1] || $_->[0] eq '' ? "exit $_->[1]: $_->[2]" : () } runs_on($kind, @exports));
		check_repaired($kind, $expected) if -d $kind;
		next if $kind =~ /\.spool$/;
		my ($verified) = runs("repair --verify $kind");
		ok("$kind: has no checksums", $verified->[0] =~ /has no checksums/ && !$verified->[1] ? () : @$verified);
	}
}
print "1..$nr\n";
exit($failed);
