#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The numbers that `diff` compares are those of the reports: of each recording of the golden tests, against what these print
# with --json, of all tasks and of those of one name. SCHEDTAP and MKDAT name the programs.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use List::Util qw(max sum0);
use lib dirname(__FILE__) . '/..';
use Files;

my $here = dirname(abs_path($0));
my $build = abs_path("$here/../..") . '/build';
my $schedtap = abs_path($ENV{SCHEDTAP} // "$build/schedtap");
my $mkdat = abs_path($ENV{MKDAT} // "$build/tests/mkdat");
my $tmp = tempdir(CLEANUP => 1);
my %compared; # how often each metric was

# What a command prints, or undef.
sub says {
	my ($args) = @_;
	my $text = qx($schedtap $args --json 2>/dev/null);

	return $text =~ /\A\{/ ? decode_json($text) : undef;
}

# What reports say: { metric => value }
sub reported {
	my ($file, $only) = @_;
	my $summary = says("summary -i $file");
	my $window = $summary->{recording}{window_ns};
	my %m = ('recording.window' => $window, 'recording.lost' => $summary->{recording}{lost});
	my $per_s = sub { $_[0] * 1e9 / $window };
	my $share = sub { 100 * $_[0] / $_[1] };

	my $all = $window * @{$summary->{cpus}};
	$m{'summary.run.share'} = $share->(sum0(map { $_->{run_ns} } @{$summary->{cpus}}), $all);
	$m{'summary.unknown.share'} = $share->(sum0(map { $_->{unknown_ns} } @{$summary->{cpus}}), $all);
	my @util = grep { $_ && $_->{known_ns} } map { $_->{util} } @{$summary->{cpus}};
	$m{'summary.util.avg'} = sum0(map { $_->{avg} * $_->{known_ns} } @util) / sum0(map { $_->{known_ns} } @util) if @util;
	$m{'summary.switches.rate'} = $per_s->(sum0(map { $_->{switches} } @{$summary->{cpus}}));
	for (['waking', ''], ['preempted', '--preempted'], ['throttled', '--throttled']) {
		my ($state, $option) = @$_;
		my $waits = (says("latency $option $only -i $file") // next)->{all};

		$m{"latency.$state.rate"} = $per_s->($waits->{count});
		$m{"latency.$state.$_"} = $waits->{"${_}_ns"} for qw(avg p50 p90 p99 p999 max);
	}
	my $explain = says("explain --by kind $only -i $file");
	$m{"explain.$_->{kind}.share"} = $_->{delay_pct} for @{$explain->{kinds} // []};
	if (my $migrations = says("migrations $only -i $file")) {
		$m{"migrations.$_.rate"} = $per_s->($migrations->{$_}) for qw(wakeup balance other);
	}
	my $balance = says("balance $only -i $file");
	$m{'balance.violation.share'} = $share->($balance->{violations}{total_ns}, $balance->{waits}{total_ns})
		if $balance && $balance->{waits}{total_ns};
	for my $stage (@{(says("resched -i $file") // {})->{stages} // []}) {
		$m{"resched.$stage->{stage}.$_"} = $stage->{"${_}_ns"} for qw(avg p50 p99 max);
	}
	if (my $all = (says("pelt --util-est $only -i $file") // {})->{all}) {
		my $judged = $all->{judged};

		$m{"pelt.util_est.error.$_"} = $all->{"error_$_"} for qw(avg p50 p90 p99 max);
		$m{'pelt.util_est.error.share'} = $share->(@$all{qw(error_avg need_avg)}) if $all->{need_avg};
		$m{"pelt.util_est.$_.share"} = $share->($all->{$_}, $judged) for $judged ? qw(over under) : ();
	}
	if (my $eevdf = says("eevdf $only -i $file")) {
		my $all = $eevdf->{all};

		for my $rule (@{$eevdf->{rules}}) {
			my $of = $rule->{rule} eq 'beyond_slice' ? $all->{runs} : $all->{picks};
			$m{"eevdf.$rule->{rule}.share"} = $share->($rule->{count}, $of) if $of;
		}
		$m{"eevdf.lag_size.$_"} = $all->{"${_}_lag_size_ns"} for qw(p50 p99 max);
	}
	add_frequency(\%m, $file, $summary);
	return \%m;
}

# No report has these: from the events themselves, with a walk of its own over each CPU's changes.
sub add_frequency {
	my ($m, $file, $summary) = @_;
	my $end = $summary->{recording}{end_ns};
	my @lines = map { decode_json($_) } qx($schedtap dump -i $file --json -e cpu_frequency 2>/dev/null);
	my @lost = map { $_->{lost} } grep { $_->{lost} } @lines;
	my (%changes, $known, $sum, $at_highest);

	push(@{$changes{$_->{fields}{cpu_id}}}, [$_->{ts_ns}, $_->{fields}{state}]) for grep { ($_->{event} // '') eq 'power:cpu_frequency' } @lines;
	for my $cpu (values %changes) {
		my $highest = max(map { $_->[1] } @$cpu);

		for my $i (0 .. $#$cpu) {
			my ($from, $khz) = @{$cpu->[$i]};
			my $to = $i < $#$cpu ? $cpu->[$i + 1][0] : $end;

			next if grep { $_->{first_ns} <= $to && $_->{last_ns} >= $from } @lost;
			$known += $to - $from;
			$sum += ($to - $from) * $khz;
			$at_highest += $to - $from if $khz == $highest;
		}
	}
	return unless $known;
	$m->{'frequency.avg'} = $sum / $known;
	$m->{'frequency.highest.share'} = 100 * ($at_highest // 0) / $known;
}

# What takes paths is asked for: of the tasks that the options pick together, and of requests.
my @between = ('sched_entry,sched_exit --by pid', 'sched_waking,sched_switch');
sub reported_paths {
	my ($file, $only, $between) = @_;
	my (%m, $scheduling, $path);

	# one that had the tid of another is told by nobody
	for my $of ($only ? map { "$only -t $_->{tid}" } @{says("summary -n 1000000 $only -i $file")->{tasks}} : '') {
		my $critical = says("critical $of -i $file") or return if $only;

		$critical //= says("critical -i $file") or next;
		$scheduling += $critical->{scheduling_ns};
		$path += $critical->{path_ns};
	}
	$m{'critical.waiting.share'} = 100 * $scheduling / $path if $path;
	my $requests = says("critical $only --between $between -i $file") or return \%m;
	$m{'critical.between.waiting.share'} = $requests->{scheduling_pct};
	for my $row (@{$requests->{times}}) {
		$m{"critical.between.$row->{what}.$_"} = $row->{"${_}_ns"} for qw(p50 p90 p99 max);
	}
	return \%m;
}

sub differences {
	my ($file, $other, $only) = @_;

	return compared($file, "$only $file $other", sub { reported($file, $only) });
}

# Against itself.
sub differences_of_paths {
	my ($file, $again, $only) = @_;

	return map {
		my $between = $_;
		compared($file, "$only --between $between -m 'critical.*' $file $again", sub { reported_paths($file, $only, $between) });
	} @between;
}

sub compared {
	my ($file, $args, $ask) = @_;
	my $diff = says("diff $args") or return;
	my $reported = $ask->() or return;
	my @wrong;

	for my $row (@{$diff->{metrics}}) {
		my ($name, $got) = ($row->{metric}, $row->{a}[0]);
		my $want = $reported->{$name};

		# what was told of kinds of which there were none is 0
		$want //= 0 if $name =~ /^explain\.|^migrations\.|^balance\.|^critical\.between\./;
		my $slack = $name =~ /avg/ ? 0.51 : 1e-6 * (1 + abs($want // 0)); # reports print whole ns
		push(@wrong, "$name is $got, the report says " . ($want // 'nothing')) if !defined $want || abs($got - $want) > $slack;
		$compared{$name}++;
	}
	return @wrong;
}

my @files;
for my $in (sort(glob("$here/*/*/in.txt"))) {
	push(@files, "$tmp/" . $in =~ s{.*/([^/]+)/([^/]+)/in.txt$}{$1-$2.dat}r);
	system($mkdat, $in, $files[-1]) == 0 or die "$mkdat $in\n";
}
# against one that has something of each metric, so that few are left out
{
	local $ENV{MKDAT} = $mkdat;
	push(@files, "$tmp/many.dat"); # percentiles that are far from each other
	system("$here/diff/recording", "$tmp/many.dat", '1+2', 300) == 0 or die;
	system("$here/diff/recording", "$tmp/other", 100, 5, "1000000000 1 9 sched:sched_migrate_task comm=kw/1 pid=9 prio=120 orig_cpu=0 dest_cpu=1") == 0 or die;
}
# more picks than runs, and some of both against the rules
spew("$tmp/owed.txt", slurp("$here/check/eevdf/in.txt") =~ s/next_lag=1000000/next_lag=20000001/r =~ s/^1\.00([23])/1.02$1/gmr);
system($mkdat, "$tmp/owed.txt", "$tmp/owed.dat") == 0 or die;
# and these against themselves
my @rich = qw(many owed resched-stages pelt-loss pelt-json check-util-est eevdf-picks diff-frequency critical-path critical-between critical-command critical-interrupts critical-hole);
system('cp', "$tmp/$_.dat", "$tmp/$_.again") == 0 or die for @rich;
my ($n, $failed) = (0, 0);
for my $only ('', '-c a', '-c "[wt]*"') {
	my @wrong;

	for my $file (@files) {
		push(@wrong, map { basename($file) . ": $_" } differences($file, "$tmp/other", $only));
	}
	for my $name (@rich) {
		push(@wrong, map { "$name: $_" } map { $_->("$tmp/$name.dat", "$tmp/$name.again", $only) }
			\&differences, \&differences_of_paths);
	}
	$n++;
	$failed++ if @wrong;
	print @wrong ? 'not ' : '', "ok $n - the numbers of diff $only are the reports'\n";
	print STDERR map { "# $_\n" } splice(@wrong, 0, 20);
}
# what diff compares, rules may name
my %listed = map { (split)[0] => 1 } qx($schedtap check --list);
my @unlisted = grep { !$listed{$_} } sort(keys(%compared));
$n++;
$failed++ if @unlisted || !%listed;
print @unlisted || !%listed ? 'not ' : '', "ok $n - check knows each metric\n";
print STDERR map { "# $_\n" } splice(@unlisted, 0, 20);
my @few = grep { ($compared{$_} // 0) < 5 } qw(summary.run.share latency.waking.p99 latency.preempted.p50 explain.queued.share
	migrations.wakeup.rate balance.violation.share);
for my $kind (qw(resched.pick.p50 summary.util.avg pelt.util_est.error.p90 pelt.util_est.under.share eevdf.lag_size.p50 eevdf.not_eligible.share eevdf.lag.share eevdf.beyond_slice.share frequency.avg
	frequency.highest.share critical.waiting.share critical.between.all.p99 critical.between.disk.max critical.between.waiting.share)) {
	push(@few, $kind) unless $compared{$kind};
}
print @few ? "not " : "", "ok ", ++$n, " - and there were some of all: @few\n";
print "1..$n\n";
exit($failed || @few ? 1 : 0);
