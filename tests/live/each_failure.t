#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap record, with each of its allocations and of its calls to the system failing once, one a run
# (fail_nth.c). However it goes: no crash and no hang; a failure has a sentence; what is left is a
# recording that can be read; no tracefs instance and no session file is left over. BPF links and
# programs have no names in the file system and die with the process.
#
# Of the allocations and calls of a row of the table so many fail as the row says, one a run, spread evenly; with SOAK=1 each of them does.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX ();

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $emit = dirname($schedtap) . '/tests/tracepoint/emit';
my $instances = '/sys/kernel/tracing/instances';

sub skip_all {
	print "1..0 # SKIP $_[0]\n";
	exit 0;
}
skip_all('needs root') if $>;
skip_all('kernel has no BTF') unless -r '/sys/kernel/btf/vmlinux';
skip_all("ASan's allocator takes the place of the one that fails")
	if `nm -D '$schedtap' 2>/dev/null` =~ /__asan_init/;
skip_all("tracefs is not mounted at $instances") unless -d $instances;
# few tasks in /proc, so that most of what may fail is not the reading of one more of them
unless ($ENV{IN_NAMESPACE}) {
	$ENV{IN_NAMESPACE} = 1;
	# the recorder finds all users' programs in /dev/shm, and removes files of those that are not in its /proc
	exec(qw(unshare --pid --mount --fork --mount-proc sh -c), 'mount -t tmpfs tmpfs /dev/shm; exec "$@"', 'sh', $^X, abs_path($0))
		unless system('unshare --pid --mount --fork --mount-proc true 2>/dev/null');
	skip_all('no pid namespace can be made here');
}

my $dir = tempdir('schedtap-failure-XXXXXX', TMPDIR => 1, CLEANUP => 1);
mkdir("$dir/run", 0700);
$ENV{XDG_RUNTIME_DIR} = "$dir/run";
$ENV{MALLOC_PERTURB_} = 165; # what was freed holds no pointers any more; glibc sees a double free
chdir($dir) or die;

my @cc = (qw(gcc -shared -fPIC -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -o), "$dir/fail_nth.so",
	  "$top/tests/live/fail_nth.c");
system(@cc) == 0 or die "cannot compile fail_nth.c\n";

sub slurp {
	my ($path) = @_;
	open(my $f, '<', $path) or return '';
	local $/;
	return <$f> // '';
}

# Return: (pid, exit code or 128 + the signal or 'hangs').
sub run_record {
	my ($what, $from, $nth, @args) = @_;
	my $pid = fork() // die;

	unless ($pid) {
		@ENV{qw(FAIL_WHAT FAIL_FROM FAIL_NTH FAIL_LOG)} = ($what, $from, $nth, "$dir/log");
		$ENV{LD_PRELOAD} = "$dir/fail_nth.so";
		open(STDOUT, '>', "$dir/out");
		open(STDERR, '>', "$dir/err");
		exec($schedtap, qw(record -o a.dat), @args, qw(-- true)) or POSIX::_exit(127);
	}
	local $SIG{ALRM} = sub { kill('KILL', $pid) };
	alarm(60);
	waitpid($pid, 0);
	my $status = $?;
	return ($pid, 'hangs') unless alarm(0);
	return ($pid, $status & 127 ? 128 + ($status & 127) : $status >> 8);
}

# Return: why this recording cannot be read, or ''.
sub unreadable {
	my ($name) = @_;

	return system("'$schedtap' dump -i $name >dumped 2>&1") ? "$name: " . slurp('dumped') : '';
}

# Return: what is wrong after a run, or ''.
sub wrong {
	my ($pid, $code) = @_;
	my $said = slurp('err');
	my @left = (glob("$instances/schedtap-$pid-*"), glob("$dir/run/schedtap/sessions/$pid*"),
		    glob("/run/schedtap/sessions/$pid*"));

	return $code if $code eq 'hangs';
	return "exit code $code" if $code > 3;
	return "exit code $code without a sentence" if $code && $said !~ /^schedtap: ./m;
	return 'exit code 0, but no recording' if !$code && !-e 'a.dat';
	return 'exit code 0, but the folder is still there' if !$code && -e 'a.dat.spool/head.dat';
	return "left over: @left" if @left;
	return 'the folder is there, and nothing says so'
		if -e 'a.dat.spool/head.dat' && $said !~ /a\.dat\.spool/;
	return (-e 'a.dat' && unreadable('a.dat')) ||
		(-e 'a.dat.spool/head.dat' && unreadable('a.dat.spool')) || '';
}

my ($nr, $failed) = (0, 0);

sub sweep {
	my ($name, $what, $from, $runs, @args) = @_;
	my (@bad, $done);

	unlink('log');
	my ($pid, $code) = run_record($what, $from, 0, @args);
	my $why = wrong($pid, $code);
	my ($count) = slurp('log') =~ /^count (\d+)$/m;

	push @bad, "the run without a failure: exit code $code: $why\n" . slurp('err')
		if $why || $code || !$count;
	$count //= 0;
	$runs = $count if $ENV{SOAK} || $runs > $count;
	for my $i (0 .. $runs - 1) {
		my $nth = 1 + int(($i + 0.5) * $count / $runs);

		unlink('log', 'a.dat', 'a.dat.old');
		system('rm -rf a.dat.spool');
		($pid, $code) = run_record($what, $from, $nth, @args);
		$why = wrong($pid, $code);
		$done++ if slurp('log') =~ /^failed /m;
		push @bad, "$nth: $why\n" . slurp('log') . slurp('err') if $why;
		rmdir($_) for glob("$instances/schedtap-$pid-*");
		1 while waitpid(-1, POSIX::WNOHANG()) > 0; # whom a recorder that crashed left to us
	}
	system('rm -rf a.dat*');
	$nr++;
	$done //= 0;
	$failed ||= @bad;
	print @bad ? 'not ' : '', "ok $nr - $name: $done runs for $count that may fail\n";
	print STDERR map { s/^/# /gmr . "\n" } @bad;
}

my $program = fork() // die;
unless ($program) {
	open(STDOUT, '>', '/dev/null');
	exec($emit, 100000000, 1000) or die;
}
my @all = qw(-e sched -e timer:* -e rules:*);
my @tracefs = qw(-b tracefs -e sched_switch -C 0 --compress zstd);
my @user = qw(-b user -e rules:*);
my @own = ('--define', "$top/events/pelt.h", qw(-e sched_pelt_se -f util>=0 -e sched_switch -f prev_pid>=0), '-e',
	'sched_switch{prev->pid, next->comm, why=next->se.my_q ? 1 : 0} if pid >= 0');

$| = 1;
sweep('all backends, memory', 'alloc', 'own', 6, @all);
sweep('all backends, memory of libbpf', 'alloc', 'bpf', 3, @all);
sweep('all backends, calls', 'call', 'own', 6, @all);
sweep('tracefs and zstd, memory', 'alloc', 'own', 6, @tracefs);
sweep('tracefs and zstd, calls', 'call', 'own', 6, @tracefs);
sweep("filters and own events, memory", 'alloc', 'own', 8, @own);
sweep("filters and own events, calls", 'call', 'own', 6, @own);
sweep("programs' events, memory", 'alloc', 'own', 10, @user);
sweep("programs' events, calls", 'call', 'own', 10, @user);
kill('KILL', $program);
print "1..$nr\n";
chdir('/');
exit $failed;
