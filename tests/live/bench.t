#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap bench on this kernel: its counts agree with each other, what a load measures in user space agrees with the recording of
# the same time, and scripts that parse schbench's and hackbench's lines can parse these.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use List::Util qw(sum0);
use Test::More;

my $schedtap = abs_path($ENV{SCHEDTAP} // dirname(abs_path($0)) . '/../../build/schedtap');
plan(skip_all => 'not root') if $> != 0;
my $tmp = tempdir(CLEANUP => 1);
chdir($tmp) or die;

# What `bench @_` printed; $? is its status.
sub bench {
	my $words = join(' ', map { "'$_'" } @_);

	return scalar(`timeout 60 '$schedtap' bench $words 2>err`);
}

sub json {
	my $text = bench(@_, '--json');

	return eval { decode_json($text) } // do {
		diag("status $?: ", `cat err`);
		BAIL_OUT("bench @_: no JSON");
	};
}

sub sum_of { my $h = shift; return $h->{count} ? $h->{count} * $h->{avg_ns} : 0 }

my $threads = 3;
# The warm-up is longer than the measured time: waits in it would be noticed.
my $m = json('messages', '-r', 2, '-d', '0.4', '--warm-up', '0.8', '--threads', $threads, '-o', 'kept.dat');

subtest 'counts' => sub {
	cmp_ok($m->{operations}, '>', 100, 'requests were made');
	is($m->{request}{count}, $m->{operations}, 'each operation has a request latency');
	is($m->{wakeup}{count}, $m->{operations}, 'each operation has a wakeup latency');
	for my $what (qw(request wakeup recorded)) {
		is(sum0(map { $_->{$what}{count} } @{$m->{rounds}}), $m->{$what}{count}, "$what: the rounds add up");
		my $sum = sum0(map { sum_of($_->{$what}) } @{$m->{rounds}});
		cmp_ok(abs($sum - sum_of($m->{$what})), '<=', 1e-6 * $sum, "$what: so do their lengths");
	}
	cmp_ok(sum_of($m->{request}), '>', sum_of($m->{wakeup}), 'a request contains its wakeup');
};

# A recorded wait lies within the wakeup that the worker measured. Only at the ends of a round a wait may belong to a request that was
# not counted, one per worker. What the worker measures besides are system calls, and other tasks that preempt it in them.
subtest 'user space and the recording' => sub {
	my $ends = 2 * $threads * @{$m->{rounds}};

	cmp_ok($m->{recorded}{count}, '>', 0.2 * $m->{wakeup}{count}, 'most wakeups are of sleeping workers');
	cmp_ok($m->{recorded}{count}, '<=', $m->{wakeup}{count} + $ends, 'no more waits than wakeups');
	cmp_ok(sum_of($m->{recorded}), '<=', sum_of($m->{wakeup}) + $ends * $m->{recorded}{max_ns}, 'nor longer ones');
	my $between = $m->{wakeup}{p50_ns} - $m->{recorded}{p50_ns};
	cmp_ok(abs($between), '<=', 100e3, 'medians differ by the time of system calls');
	diag("wakeup p50 $m->{wakeup}{p50_ns}, recorded $m->{recorded}{p50_ns} ns") if abs($between) > 100e3;
};

subtest 'reasons' => sub {
	is(join(' ', map { $_->{above} } @{$m->{why}}), 'p99 p999', 'for both percentiles');
	for my $why (@{$m->{why}}) {
		my $all = sum0(map { $_->{ns} } values(%{$why->{reasons}}));

		is($all, $why->{wait_ns}, "$why->{above}: they add up to the waits");
		is(sum0(map { $_->{ns} } @{$why->{others}}), $why->{reasons}{other}{ns}, "$why->{above}: other tasks add up");
		cmp_ok($why->{waits}, '<=', ($why->{above} eq 'p99' ? 0.011 : 0.0011) * $m->{recorded}{count} + 2 * @{$m->{rounds}},
			"$why->{above}: about as many as the percentile says");
	}
};

# Some kernels hide tasks from tracing: what a CPU did then is unknown (summary), and so are waits for it, of all workers at once.
subtest 'what has no reason is unknown' => sub {
	my $one = json('messages', '-r', 1, '-d', '0.4', '--warm-up', '0.1', '--threads', $threads, '-o', 'one.dat');
	my $unknown_ns = sum0(`timeout 60 '$schedtap' summary -i one.dat --json` =~ /"unknown_ns":(\d+)/g);

	for my $why (@{$one->{why}}) {
		my $ns = $why->{reasons}{unknown}{ns};

		cmp_ok($ns, '<=', $threads * $unknown_ns, "waits above $why->{above}: no more than what is unknown of the CPUs");
		cmp_ok($why->{explained_pct}, '>=', 95, "$why->{above}: $why->{explained_pct} % have a reason") if !$ns;
	}
};

subtest 'the kept recording' => sub {
	is($m->{recording}, 'kept.dat', 'is named');
	my $csv = `timeout 60 '$schedtap' latency -i kept.dat -c bench-worker --csv`;
	is(scalar(() = $csv =~ /bench-worker/g), $threads, 'has each worker by its name');
};

subtest 'hogs share the CPUs' => sub {
	my $h = json('hog', '-r', 1, '-d', '0.6', '--warm-up', '0.1', '--no-record');
	my $shares = $h->{rounds}[0]{shares_pct};

	is(scalar(@$shares), $h->{options}{threads}, 'each has a share');
	cmp_ok(abs(sum0(@$shares) - 100 * @$shares), '<', 0.01, 'they add up');
	is_deeply($h->{why}, [], 'without a recording there is no reason');
};

subtest 'what the recording counts' => sub {
	for my $what (qw(switches migrations)) {
		is(sum0(map { $_->{$what} } @{$m->{rounds}}), $m->{$what}, "$what: the rounds add up");
	}
	cmp_ok($m->{switches}, '>=', $m->{recorded}{count} - 2 * $threads * @{$m->{rounds}}, 'a wait ends with a switch');
	for my $round (@{$m->{rounds}}) {
		my $sum = sum0(map { $_->{pct} } values(%{$round->{why}[0]{reasons}}));

		cmp_ok(abs($sum - 100), '<', 0.01, 'the reasons of a round add up');
	}
};

# Runs `schedtap @_`, with the first word, a file, for its output. Returns its exit status.
sub run_to {
	my ($file, @words) = @_;

	return system("timeout 60 '$schedtap' " . join(' ', map { "'$_'" } @words) . " >$file 2>err") >> 8;
}

sub file_json { my ($file) = @_; return decode_json(`cat $file`) }

subtest 'two runs are compared by their rounds' => sub {
	for my $side (qw(a b)) {
		is(run_to("$side.json", qw(bench messages --json -r 4 -d 0.1 --warm-up 0.05 --products 5)), 0, "run $side");
	}
	is(run_to('diff.json', qw(diff --json a.json b.json)), 0, 'diff') or diag(`cat err`);
	my %metric = map { $_->{metric} => $_ } @{file_json('diff.json')->{metrics}};
	for my $side (qw(a b)) {
		my @rounds = @{file_json("$side.json")->{rounds}};

		is_deeply($metric{'bench.wakeup.p99'}{$side}, [sort { $a <=> $b } map { $_->{wakeup}{p99_ns} } @rounds], "$side: the p99 of each");
		is_deeply($metric{'bench.switches.rate'}{$side}, [sort { $a <=> $b } map { $_->{switches_per_s} } @rounds], "$side: switches");
	}
	isnt($metric{'bench.rate'}{p}, undef, 'four rounds suffice for a p-value');
	is(run_to('check', 'check', 'bench.wakeup.p99 < 1000s', 'a.json'), 0, 'a check that passes') or diag(`cat err`);
	is(run_to('check', 'check', 'bench.wakeup.p99 < 1ns', 'a.json'), 4, 'and one that fails') or diag(`cat err`);
	is(run_to('c.json', qw(bench messages --json -r 1 -d 0.1 --warm-up 0.05 --products 6 --no-record)), 0, 'another run');
	is(run_to('diff.json', qw(diff --json a.json c.json)), 1, 'which did other work');
	like(`cat err`, qr/5 matrix products in 'a\.json' and 6 in 'c\.json'.*--products 5/, 'as diff says');
};

# Two rounds of each side, in the order A B, B A.
subtest 'ab alternates rounds of two set-ups' => sub {
	my @set_ups = map { "echo $_ | tee -a order" } qw(A B);

	is(run_to('ab.json', qw(ab -r 2 -o ab --json), @set_ups, qw(-- schedtap bench messages --no-record -d 0.1 --warm-up 0.05)), 0, 'ab')
		or diag(`cat err`);
	is(`cat order` =~ s/\n//gr, 'ABBA', 'the set-ups');
	my $ab = file_json('ab.json');
	is_deeply($ab->{a}, ['ab/a-001.json', 'ab/a-002.json'], 'its files');
	my ($rate) = grep { $_->{metric} eq 'bench.rate' } @{$ab->{metrics}};
	is(@{$rate->{a}} . @{$rate->{b}}, '22', 'a value of each round');
	my %products = map { file_json($_)->{options}{products} => 1 } @{$ab->{a}}, @{$ab->{b}};
	is(keys(%products), 1, 'all rounds did the same work');
};

for my $load (qw(pipe yield fork mixed)) {
	my $r = json($load, '-r', 1, '-d', '0.3', '--warm-up', '0.1', '--no-record');

	is($r->{request}{count}, $r->{operations}, "$load: counts agree");
	cmp_ok($r->{wakeup}{count}, '==', { pipe => 2, yield => 0, fork => 1, mixed => 1 }->{$load} * $r->{operations},
		"$load: wakeups of an operation");
}

subtest 'lines of schbench' => sub {
	my $out = bench('messages', '--like', 'schbench', '-r', 1, '-d', 1, '--warm-up', '0.2', '--no-record');

	for my $title ('Wakeup Latencies percentiles \(usec\)', 'Request Latencies percentiles \(usec\)') {
		like($out, qr/^$title runtime \d+ \(s\) \(\d+ total samples\)\n(?:.*\n)*?\s+50\.0th: (\d+)\s.*\n(?:.*\n)*?\s+\* 99\.0th: (\d+)\s/m,
			$title);
		my ($p50, $p99) = $out =~ /^$title.*\n\s+50\.0th: (\d+)\s.*\n(?:.*\n)*?\s+\* 99\.0th: (\d+)\s/m;
		cmp_ok($p50, '<=', $p99, 'in order');
	}
	like($out, qr/^RPS percentiles \(requests\) runtime .*\n\s+20\.0th: \d+ .*\n\s+\* 50\.0th: \d+\s/m, 'RPS');
};

my $time = bench('messages', '--like', 'hackbench', '-r', 1, '--messengers', 1, '--threads', 5, '--no-record');
like($time, qr/^Time: \d+\.\d{3}$/m, 'the line of hackbench');

bench('messages', '--expect-scheduler', 'no_such_scheduler');
is($? >> 8, 2, 'another scheduler is an error');
like(`cat err`, qr/^schedtap: the scheduler in use is .+, not 'no_such_scheduler'$/m, 'which is named');
bench('waltz');
is($? >> 8, 2, 'so is an unknown load');
done_testing();
