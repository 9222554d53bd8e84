#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap top's screens on this kernel: what its keys start, and that nothing of it is left. The screens themselves are golden tests
# (tests/golden/top), over recordings.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $terminal = ($ENV{BUILD} // "$here/../../build") . '/tests/on_terminal';
my $top = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;
chmod(0755, $top);
$ENV{TERM} = 'xterm';
$ENV{LC_ALL} = 'C.UTF-8';

# What a terminal shows of `top` when these steps (on_terminal) were done in a new folder. Return: its text, the folder.
sub steps {
	my ($before, @steps) = @_;
	my $dir = tempdir(DIR => $top);

	chmod(0777, $dir);
	open(my $to, '>', "$dir/steps") or die "$dir/steps: $!\n";
	print $to map { "$_\n" } @steps;
	close($to);
	my $text = `cd $dir && $before timeout 100 $terminal 24x100 -- $schedtap top <steps 2>&1`;
	unlink("$dir/steps");
	return ($text, $dir);
}

sub files { return sort(map { s{.*/}{}r } glob("$_[0]/*")) }

sub events_in {
	my ($file) = @_;

	return `$schedtap summary --json -i $file` =~ /"events":(\d+)/ ? $1 : 0;
}

# Start a task that runs and sleeps until end_task, so that each recording has it. Return: its process.
sub start_task {
	my ($name) = @_;
	my $pid = fork();

	if (!$pid) {
		exec(qw(setpriv --pdeathsig KILL perl -e), '$0 = shift; while (1) { my $t = time() + 1; 1 while time() < $t; select(undef, undef, undef, 0.01) }', $name);
	}
	return $pid;
}

sub end_task {
	my ($pid) = @_;

	kill('KILL', $pid);
	waitpid($pid, 0);
}

subtest 'explain, save, and a report' => sub {
	my $task = start_task('explained');
	my ($text, $dir) = steps('', 'await load', 'key 2', 'await top  tasks', 'key /', 'await filter: _', 'key comm == "explained"\r', 'await [0-9] explained +[0-9]', 'key \r', 'await buffering', 'key x', 'await (waited|slept|blocked|ran)',
		'key m', 'await saving', 'await saved', 'key o', 'await MB in', 'key q', 'wait');
	end_task($task);
	my @saved = grep { /^top-\d+-\w+\.\d+\.dat$/ } files($dir);

	like($text, qr/^exit: 0$/m, 'ends') or diag($text);
	ok(scalar(@saved), 'files are saved');
	cmp_ok(events_in("$dir/$_"), '>', 0, "$_ has events") for @saved;
	is(scalar(grep { /\.html$/ } files($dir)), 1, 'a report');
	is(scalar(grep { /spool/ } files($dir)), 0, 'no folder is left');
};

subtest 'a recording' => sub {
	my ($text, $dir) = steps('', 'await load', 'key r', 'await recording since', 'key r', 'await (MB|events)', 'key r', 'await recording since', 'key q', 'wait');
	my @saved = files($dir);

	like($text, qr/^exit: 0$/m, 'ends') or diag($text);
	cmp_ok(scalar(@saved), '>=', 1, 'the recording that was ended is there') or diag($text);
	cmp_ok(events_in("$dir/$saved[0]"), '>', 0, 'with events');
	is(scalar(grep { /spool/ } @saved), 0, 'no folder is left');
};

subtest 'killed' => sub {
	my ($text, $dir) = steps('', 'await load', 'key m', 'await buffering', 'key r', 'await recording since', 'signal 9', 'wait');
	my $left = 'x';

	like($text, qr/^ended by signal 9$/m, 'ends') or diag($text);
	# they get a signal as it dies, and then save their file
	for (1 .. 100) {
		$left = `pgrep -f 'schedtap record .*top-.*dat' | while read p; do [ "\$(readlink /proc/\$p/cwd)" = $dir ] && echo \$p; done`;
		last if $left eq '';
		select(undef, undef, undef, 0.1);
	}
	is($left, '', 'no process is left');
	is(scalar(grep { /spool/ } files($dir)), 0, 'no folder is left') or diag(join(' ', files($dir)));
};

subtest 'a user without privileges' => sub {
	my ($text) = steps('setpriv --reuid=65534 --regid=65534 --clear-groups', 'await ^load', 'print', 'key m', 'await ended:', 'key q', 'wait');

	like($text, qr/^load   \d+ CPUs \d+ % busy/m, 'sees what /proc has') or diag($text);
	like($text, qr/^waiting% .*\n(?:.* - .*\n)+/m, 'and no invented numbers') or diag($text);
	like($text, qr/^exit: 0$/m, 'ends');
};

subtest 'the first screen' => sub {
	my ($text) = steps('', 'await load', 'print', 'key 5', 'await tap_tally_switch', 'print', 'key z', 'await FROZEN', 'key q', 'wait');

	like($text, qr/^schedtap top .* every 1\.0 s .*lost \d+$/m, 'its head');
	like($text, qr/^ +\d+\.\d\d +\d+ +\d+(?:\.\dk)? +\d+(?:\.\d)? [nu]s tracing +tap_tally_switch  \(this schedtap\)$/m, 'its own program') or diag($text);
	like($text, qr/^exit: 0$/m, 'ends');
};
done_testing();
