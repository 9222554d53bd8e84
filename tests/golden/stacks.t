#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Time by stack. Of every recording of the golden tests, with stacks added after its events, what `export` prints adds up to
# what `states` says, and `timehist --stacks` has the rows of `timehist`. Of random schedules each line is calculated again, from
# the text of `dump` alone. In a soak SEEDS of these, from SEED on.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $dir = memory_folder();
my ($n, $failed) = (0, 0);
$ENV{LC_ALL} = 'C';

# check NAME, PROBLEM...: one TAP line.
sub check {
	my ($name, @problems) = @_;

	$n++;
	$failed++ if @problems;
	print @problems ? 'not ok ' : 'ok ', "$n - $name\n";
	splice(@problems, 20) if @problems > 20;
	print STDERR map { "#   $_\n" } @problems;
}

# Return: the recording.
sub make {
	my ($in, $name) = @_;

	system($ENV{MKDAT}, spew("$dir/$name.txt", $in), "$dir/$name.dat") == 0 or die "$ENV{MKDAT} $dir/$name.txt\n";
	return "$dir/$name.dat";
}

# Lines "stack CPU KIND FRAME...", of few frames so that stacks come again. No blanks in names: dump's text has none between.
my @names = ('schedule', 'do_nanosleep', 'futex wait', 'std::f<int>;g', 'x86', 'io_schedule', 'operator new(unsigned 1)');
sub random_stacks {
	my ($cpu) = @_;
	my $text = '';

	for my $kind ('kernel', 'user') {
		next if rand() < 0.3;
		my @frames = map { "\"$names[rand(@names)]\"" } 1 .. int(rand(4));
		$text .= "stack $cpu $kind @frames\n";
	}
	return $text;
}

# ---- sums ---------------------------------------------------------------------------------------

# Of what `export --to folded` printed: all, and what is unknown.
sub sums_of_lines {
	my ($out) = @_;
	my %sum = (all => 0, unknown => 0);

	for (split(/\n/, $out)) {
		my ($stack, $ns) = /^(.*) ([0-9]+)$/ or die "a line is '$_'\n";

		$sum{all} += $ns;
		$sum{unknown} += $ns if $stack =~ /^[^;]*;\[unknown\]$/;
	}
	return \%sum;
}

sub sum_of_states {
	my ($states, @keys) = @_;
	my $sum = 0;

	for my $task (@{$states->{tasks}}) {
		$sum += $task->{"${_}_ns"} for @keys;
	}
	return $sum;
}

my @of_sums = ('export --of off-cpu', 'export --of preemptions', 'states --json');
# What these printed of the same input, against each other.
sub compare_sums {
	my ($args, $off_cpu, $preemptions, $printed) = @_;

	return () if $off_cpu->[1] || $printed->[1]; # it has none
	my $states = decode_json($printed->[0]);
	my ($off, $preempted) = map { sums_of_lines($_->[0]) } $off_cpu, $preemptions;
	my $off_states = sum_of_states($states, qw(sleep blocked stopped waking unknown));
	return (
		$off->{all} == $off_states ? () : "$args: off-cpu is $off->{all}, states have $off_states",
		$off->{unknown} == sum_of_states($states, 'unknown') ? () : "$args: unknown is $off->{unknown}",
		$preempted->{all} == sum_of_states($states, 'preempted') ? () : "$args: preemptions are $preempted->{all}",
	);
}

my @of_rows = ('timehist -wM', 'timehist -wM --stacks');
sub compare_rows {
	my ($file, @printed) = @_;
	my ($plain, $with) = map { $_->[0] } @printed;

	$with =~ s/^    \S.*\n//gm;
	# where a task ends with its slice, the stack events after it may change the process that the row names
	s{/[0-9]+\]}{]}g, s/ +/ /g for $plain, $with;
	return $plain eq $with ? () : "$file: rows of timehist differ with --stacks";
}

# Return: the text of recording $in with stacks added after its events.
sub with_stacks {
	my ($in) = @_;
	my $text = '';

	srand(1);
	for (split(/^/, slurp($in))) {
		next if /^(stack|callers) /;
		$text .= /\n$/ ? $_ : "$_\n";
		$text .= random_stacks($1) if /^[0-9._]+ ([0-9]+) -?[0-9]+ sched:sched_(?:switch|waking|wakeup) /;
	}
	return $text;
}

my ($nr_sums, $nr_none) = (0, 0);
my (@sums, @rows);
my @files = distinct(map { make(with_stacks($_), m{([^/]+)/([^/]+)/in\.txt$} && "$1-$2") } sort glob("$here/*/*/in.txt"));
my @dumps = runs(map { "dump -i $_" } @files);
for my $i (0 .. $#files) {
	my ($file, $dump) = ($files[$i], $dumps[$i][0]);
	my ($first) = $dump =~ /\] +([0-9]+\.[0-9]+):/;
	my ($tid) = $dump =~ /next_pid=([1-9][0-9]*)/;
	my @inputs = map { "$_ -i $file" } '', defined $tid ? "-t $tid" : (), defined $first ? "--time +0.0001s,+0.0004s" : ();
	my @printed = runs(map { my $input = $_; map { "$_ $input" } @of_sums } @inputs);

	for my $input (@inputs) {
		my @of = splice(@printed, 0, @of_sums);

		$of[0][1] ? $nr_none++ : $nr_sums++;
		push(@sums, compare_sums($input, @of));
	}
	push(@rows, compare_rows($file, runs(map { "$_ -i $file" } @of_rows)));
}
check("off-CPU time and preemptions add up to states", @sums);
check("there was something to add up", $nr_sums > 60 ? () : "of $nr_sums runs; $nr_none had no stacks");
check("timehist has the same rows with stacks", @rows);

# ---- random schedules ---------------------------------------------------------------------------

# One in which nothing is missing: CPUs take turns, sleepers are woken by who runs, or by an interrupt.
sub schedule {
	my ($seed) = @_;
	my ($nr_cpus, $nr_tasks, $now) = (1 + int(rand(3)), 2 + int(rand(5)), 1_000_000_000);
	my @on = (0) x $nr_cpus;
	my %state = map { (100 + $_) => 'new' } 1 .. $nr_tasks;
	my @text = ('meta {"window":{"start_ns":1000000000,"end_ns":1001000000}}');
	my $comm = sub { $_[0] ? "t$_[0]" . ($_[0] % 3 ? '' : ' 1') : 'swapper' };

	while ($now < 1_000_990_000) {
		my $cpu = int(rand($nr_cpus));
		$now += 1 + int(rand(9000));
		my @asleep = grep { $state{$_} =~ /new|asleep/ } sort keys %state;
		if (@asleep && rand() < 0.5) {
			my $tid = $asleep[rand(@asleep)];
			push(@text, "$now $cpu $on[$cpu] sched:sched_waking comm=\"" . $comm->($tid) . "\" pid=$tid target_cpu=$cpu");
			push(@text, random_stacks($cpu) =~ s/\n\z//r);
			$state{$tid} = 'waits';
			next;
		}
		my @waits = grep { $state{$_} eq 'waits' } sort keys %state;
		my $next = @waits && rand() < 0.8 ? $waits[rand(@waits)] : 0;
		my $prev = $on[$cpu];
		my $left_as = (0, 1, 1, 2, 4)[rand(5)];
		next if $next == $prev;
		push(@text, "$now $cpu $prev sched:sched_switch prev_comm=\"" . $comm->($prev) . "\" prev_pid=$prev " .
			'prev_state=' . ($prev ? $left_as : 0) . ' next_comm="' . $comm->($next) . "\" next_pid=$next");
		push(@text, random_stacks($cpu) =~ s/\n\z//r);
		$state{$prev} = $left_as ? 'asleep' : 'waits' if $prev;
		$state{$next} = 'runs' if $next;
		$on[$cpu] = $next;
	}
	return join("\n", grep { $_ ne '' } @text) . "\n";
}

# What a name becomes in a line.
sub shown {
	my ($name) = @_;

	$name =~ s/;/:/g;
	$name =~ s/ ([0-9.]*)$/_$1/;
	return $name;
}

sub outer_first {
	my ($s) = @_;
	my @kernel = reverse map { shown($_) } @{$s->{kernel_stack} // []};
	my @user = reverse map { shown($_) } @{$s->{user_stack} // []};

	return join(';', @kernel || @user ? (@user, @user && @kernel ? '-' : (), @kernel) : '[no stack]');
}

sub inner_first {
	my ($s) = @_;

	return join(';', reverse split(/;/, outer_first($s)));
}

# From the events as dump prints them: { of => { line => ns } }, and { "waker wakee" => { stack => count } }.
sub calculate {
	my ($text, $from, $to) = @_;
	my (@events, %task, %sum, %woken);
	my $add = sub {
		my ($of, $line, $ns) = @_;
		$sum{$of}{$line} += $ns if $ns;
	};

	for (split(/\n/, $text)) {
		my ($cpu, $s, $ns, $kind, $rest) = /-[0-9]+ +\[([0-9]+)\] ([0-9]+)\.([0-9]{9}): [a-z]+:([a-z_]+): (.*)$/ or die "$_\n";
		my ($by) = /^ *(.*?)-[0-9]+ +\[/;
		my $event = { cpu => $cpu, ns => $s * 1e9 + $ns, kind => $kind, text => $rest, by => $by };

		if ($kind =~ /_stack$/) {
			my ($before) = grep { $_->{cpu} == $cpu } reverse @events;
			my (undef, @frames) = split(/\\n => /, $rest);
			$before->{$kind} = \@frames;
		} else {
			push(@events, $event);
		}
	}
	for my $e (@events) {
		if ($e->{kind} eq 'sched_waking') {
			my ($comm, $tid) = $e->{text} =~ /^comm=(.*) pid=([0-9]+)/;
			my $t = $task{$tid} //= { comm => $comm, state => 'unknown', since => $from };
			$add->('off-cpu', shown($comm) . ';[unknown]', $e->{ns} - $t->{since}) if $t->{state} eq 'unknown';
			$add->('off-cpu', shown($comm) . ';' . outer_first($t->{left}), $e->{ns} - $t->{since}) if $t->{state} eq 'asleep';
			$t->{woken} = { by => $e, slept => $t->{state} eq 'asleep' ? $e->{ns} - $t->{since} : 0 };
			@$t{qw(state since)} = ('waking', $e->{ns});
			next;
		}
		my ($prev, $state, $next) = $e->{text} =~ /prev_pid=([0-9]+).* prev_state=(\S+) ==>.* next_pid=([0-9]+)/ or die "$e->{text}\n";
		if ($prev) {
			@{$task{$prev}}{qw(state since left)} = ($state =~ /^R/ ? 'preempted' : 'asleep', $e->{ns}, $e);
		}
		next unless $next;
		over($add, \%woken, $task{$next}, $e->{ns});
		$task{$next}{state} = 'runs';
	}
	for my $t (values %task) {
		over($add, \%woken, $t, $to);
		$add->('off-cpu', shown($t->{comm}) . ';' . outer_first($t->{left}), $to - $t->{since}) if $t->{state} eq 'asleep';
	}
	return (\%sum, \%woken);
}

# A wait ends.
sub over {
	my ($add, $woken, $t, $ns) = @_;
	my $comm = shown($t->{comm});

	$add->('preemptions', "$comm;" . outer_first($t->{left}), $ns - $t->{since}) if $t->{state} eq 'preempted';
	return if $t->{state} ne 'waking';
	my $w = $t->{woken};
	# a task that was not asleep before has no stack that it sleeps with
	my $left = $w->{slept} ? $t->{left} : {};
	my $by = $w->{by}{by} eq '<idle>' ? '<idle>' : shown($w->{by}{by});
	$add->('off-cpu', "$comm;" . outer_first($left), $ns - $t->{since});
	$add->('wakeups', "$comm;" . outer_first($left) . ';--;' . inner_first($w->{by}) . ";$by", $w->{slept});
	my @frames = map { @{$w->{by}{$_} // []} } qw(kernel_stack user_stack);
	$woken->{"$w->{by}{by} => $t->{comm}"}{join("\n", @frames)}++ if @frames;
}

sub differences {
	my ($what, $want, $got) = @_;
	my %all = (%$want, %$got);

	return map { "$what: '$_' is " . ($got->{$_} // 'not there') . ', calculated is ' . ($want->{$_} // 'nothing') }
		grep { ($want->{$_} // -1) != ($got->{$_} // -1) } sort keys %all;
}

sub pairs_of {
	my ($text) = @_;
	my %pairs;

	for my $pair (@{JSON::XS->new->latin1->decode($text)->{pairs}}) {
		my $name = ($pair->{waker_comm} // '') . " => $pair->{comm}";

		$pairs{$name}{join("\n", @{$_->{kernel_frames} // []}, @{$_->{user_frames} // []})} += $_->{count} for @{$pair->{stacks}};
	}
	return \%pairs;
}

my $seeds = $ENV{SOAK} ? $ENV{SEEDS} // 400 : 20;
my $seed = $ENV{SOAK} ? $ENV{SEED} // 1 : 1;
my @of = qw(off-cpu preemptions wakeups);
my @wrong;
my $lines = 0;
for my $seed ($seed .. $seed + $seeds - 1) {
	srand($seed);
	my $file = make(schedule($seed), 'random');
	my ($dump, $wakers, @printed) = runs(map { "$_ -i $file" } 'dump', 'wakers --stacks --json', @of_rows, @of_sums, 'export --to folded --of wakeups');
	my ($want, $woken) = calculate($dump->[0], 1_000_000_000, 1_001_000_000);
	my @bad = (compare_rows($file, @printed[0, 1]), compare_sums("-i $file", @printed[2 .. 4]));

	for my $i (0 .. $#of) {
		my %got;

		# a program may have a frame of the same name as the kernel
		/^(.*) ([0-9]+)$/ and $got{$1} += $2 for split(/\n/, $printed[(2, 3, 5)[$i]][0]);
		$lines += keys %got;
		push(@bad, differences($of[$i], $want->{$of[$i]} // {}, \%got));
	}
	my $pairs = pairs_of($wakers->[0]);
	push(@bad, differences('wakers', $woken->{$_} // {}, $pairs->{$_} // {})) for keys %{{%$woken, %$pairs}};
	push(@wrong, "SOAK=1 SEEDS=1 SEED=$seed tests/golden/stacks.t", @bad) if @bad;
}
check("$seeds random schedules: every line of export, and every count of wakers", @wrong);
check("these had lines", $lines > 20 * $seeds ? () : "only $lines");
print "1..$n\n";
exit($failed ? 1 : 0);
