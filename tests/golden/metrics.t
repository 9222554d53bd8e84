#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The numbers that `diff` compares are those of the reports: of each recording of the golden tests, against what these print
# with --json, of all tasks and of those of one name: the latter of recordings that have such tasks, and one without. In a soak of all.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use JSON::XS;
use List::Util qw(max sum0);
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $tmp = memory_folder();
my %compared; # how often each metric was
my %printed; # by the command's arguments

# Run these commands with --json, those that did not run yet.
sub ask {
	my @args = grep { !exists $printed{$_} } @_;
	my @ran = runs(map { "$_ --json" } @args);

	$printed{$args[$_]} = $ran[$_][0] for 0 .. $#args;
}

# What a command prints, or undef.
sub says {
	my ($args) = @_;

	ask($args);
	return $printed{$args} =~ /\A\{/ ? decode_json($printed{$args}) : undef;
}

# The reports that metrics of these kinds are compared with: kind, what to run, and whether it takes the filter.
my @sources = (['resched', 'resched', 0], ['latency', 'latency', 1], ['latency', 'latency --preempted', 1], ['latency', 'latency --throttled', 1],
	['explain', 'explain --by kind', 1], ['migrations', 'migrations', 1], ['balance', 'balance', 1], ['pelt', 'pelt --util-est', 1],
	['eevdf', 'eevdf', 1], ['frequency', 'dump -e cpu_frequency', 0]);

# What reports say: { metric => value }, of metrics whose names begin with one of these kinds
sub reported {
	my ($file, $only, %kinds) = @_;
	my %args = map { $_->[1] => $_->[2] ? "$_->[1] $only -i $file" : "$_->[1] -i $file" } grep { $kinds{$_->[0]} } @sources;

	ask("summary -n 1000000 -i $file", values %args);
	my $says = sub { $args{$_[0]} ? says($args{$_[0]}) : undef };
	my $summary = says("summary -n 1000000 -i $file");
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
	for (['waking', ''], ['preempted', ' --preempted'], ['throttled', ' --throttled']) {
		my ($state, $option) = @$_;
		my $waits = ($says->("latency$option") // next)->{all};

		$m{"latency.$state.rate"} = $per_s->($waits->{count});
		$m{"latency.$state.$_"} = $waits->{"${_}_ns"} for qw(avg p50 p90 p99 p999 max);
	}
	my $explain = $says->('explain --by kind');
	$m{"explain.$_->{kind}.share"} = $_->{delay_pct} for @{$explain->{kinds} // []};
	if (my $migrations = $says->('migrations')) {
		$m{"migrations.$_.rate"} = $per_s->($migrations->{$_}) for qw(wakeup balance other);
	}
	my $balance = $says->('balance');
	$m{'balance.violation.share'} = $share->($balance->{violations}{total_ns}, $balance->{waits}{total_ns})
		if $balance && $balance->{waits}{total_ns};
	for my $stage (@{($says->('resched') // {})->{stages} // []}) {
		$m{"resched.$stage->{stage}.$_"} = $stage->{"${_}_ns"} for qw(avg p50 p99 max);
	}
	if (my $all = ($says->('pelt --util-est') // {})->{all}) {
		my $judged = $all->{judged};

		$m{"pelt.util_est.error.$_"} = $all->{"error_$_"} for qw(avg p50 p90 p99 max);
		$m{'pelt.util_est.error.share'} = $share->(@$all{qw(error_avg need_avg)}) if $all->{need_avg};
		$m{"pelt.util_est.$_.share"} = $share->($all->{$_}, $judged) for $judged ? qw(over under) : ();
	}
	if (my $eevdf = $says->('eevdf')) {
		my $all = $eevdf->{all};

		for my $rule (@{$eevdf->{rules}}) {
			my $of = $rule->{rule} eq 'beyond_slice' ? $all->{runs} : $all->{picks};
			$m{"eevdf.$rule->{rule}.share"} = $share->($rule->{count}, $of) if $of;
		}
		$m{"eevdf.lag_size.$_"} = $all->{"${_}_lag_size_ns"} for qw(p50 p99 max);
	}
	my $dump = $args{'dump -e cpu_frequency'};
	add_frequency(\%m, $printed{$dump}, $summary) if $dump;
	return \%m;
}

# No report has these: from the events themselves, with a walk of its own over each CPU's changes.
sub add_frequency {
	my ($m, $text, $summary) = @_;
	my $end = $summary->{recording}{end_ns};
	my @lines = JSON::XS->new->incr_parse($text);
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

	# -t does not choose a task whose tid another task had before: then there is no sum to compare
	my @of = $only ? map { "$only -t $_->{tid}" } @{says("summary -n 1000000 $only -i $file")->{tasks}} : '';

	ask(map { "critical $_ -i $file" } @of);
	for my $of (@of) {
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

	return compared($file, "$only $file $other", sub { reported($file, $only, @_) });
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
	my $reported = $ask->(map { $_->{metric} =~ /^(\w+)\./ => 1 } @{$diff->{metrics}}) or return;
	my @wrong;

	for my $row (@{$diff->{metrics}}) {
		my ($name, $got) = ($row->{metric}, $row->{a}[0]);
		my $want = $reported->{$name};

		# reports leave out kinds that did not occur: their metrics are 0
		$want //= 0 if $name =~ /^explain\.|^migrations\.|^balance\.|^critical\.between\./;
		my $slack = $name =~ /avg/ ? 0.51 : 1e-6 * (1 + abs($want // 0)); # reports print whole ns
		push(@wrong, "$name is $got, the report says " . ($want // 'nothing')) if !defined $want || abs($got - $want) > $slack;
		$compared{$name}++;
	}
	return @wrong;
}

# A recording of this name, of a text.
sub make {
	my ($name, $text) = @_;

	system($ENV{MKDAT}, spew("$tmp/$name.txt", $text), "$tmp/$name.dat") == 0 or die "$ENV{MKDAT} failed\n";
	return "$tmp/$name.dat";
}

# percentiles that are far from each other
system("$here/diff/recording", "$tmp/many.dat", '1+2', 300) == 0 or die;
# more picks than runs, and some of both against the rules
my $owed = make('owed', slurp("$here/check/eevdf/in.txt") =~ s/^(1\.003.* next_lag=)0/${1}53000001/mr =~ s/^1\.00([23])/1.02$1/gmr);
my @files = (distinct(golden_recordings()), "$tmp/many.dat", $owed);
# against one that has something of each metric, so that few are left out
system("$here/diff/recording", "$tmp/other", 100, 5, "1000000000 1 9 sched:sched_migrate_task comm=kw/1 pid=9 prio=120 orig_cpu=0 dest_cpu=1") == 0 or die;
# and these against themselves
my @rich = ("$tmp/many.dat", $owed, map { golden_recording($_) } qw(resched/stages pelt/loss pelt/json check/util-est eevdf/picks eevdf/overrun diff/frequency critical/path
	critical/between critical/command critical/interrupts critical/hole));
copy($_, "$tmp/" . basename($_) . '.again') or die for @rich;

# Those of @files that have tasks of such names, and the first one that has none.
sub files_with {
	my ($name) = @_;
	my (@with, @none);

	ask(map { "summary -n 1000000 -i $_" } @files);
	for my $file (@files) {
		my $tasks = (says("summary -n 1000000 -i $file") // {})->{tasks} // [];
		push(@{(grep { ($_->{comm} // '') =~ $name } @$tasks) ? \@with : \@none}, $file);
	}
	return $ENV{SOAK} ? @files : (@with, $none[0]);
}

my ($n, $failed) = (0, 0);
for (['', qr//], ['-c a', qr/^a$/], ['-c "[wt]*"', qr/^[wt]/]) {
	my ($only, $name) = @$_;
	my @wrong;

	my @with = $only ? files_with($name) : @files;

	ask(map { "diff $only $_ $tmp/other" } @with);
	for my $file (@with) {
		push(@wrong, map { basename($file) . ": $_" } differences($file, "$tmp/other", $only));
	}
	for my $file (@rich) {
		push(@wrong, map { basename($file) . ": $_" } map { $_->($file, "$tmp/" . basename($file) . '.again', $only) }
			\&differences, \&differences_of_paths);
	}
	$n++;
	$failed++ if @wrong;
	print @wrong ? 'not ' : '', "ok $n - the numbers of diff $only are the reports'\n";
	print STDERR map { "# $_\n" } splice(@wrong, 0, 20);
}
# what diff compares, rules may name
my %listed = map { (split)[0] => 1 } qx($ENV{SCHEDTAP} check --list);
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
