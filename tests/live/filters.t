#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One filter, one answer: the kernel's filter files, BPF programs and the reader accept and refuse the same, with the
# same message and caret, and the same records fit. What differs is listed here as it is in schedtap-filter(5).
#
# SEED: of the random filters [1]. With SOAK=1 they are tried for two minutes.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use List::Util qw(sum0);
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $check = dirname($schedtap) . '/tests/live/filter_check';
my $fuzz = dirname($schedtap) . '/tests/live/filter_fuzz';
my $tmp = tempdir(CLEANUP => 1);
my $tracefs = '/sys/kernel/tracing';
my $seed = $ENV{SEED} // 1;

plan skip_all => 'needs root' if $> != 0;
plan skip_all => 'no tracefs' unless -d "$tracefs/events/sched/sched_switch";
plan skip_all => "no $check" unless -x $check && -x $fuzz;

my @trailing = ('prev_comm == "bash" && ', 'prev_pid == 1 ||', 'prev_pid == 1 &&'); # accepted by some kernels, such as 6.1
my @numbers = ('prev_pid == 4294967296', 'prev_pid == 9223372036854775807', 'prev_pid == -9223372036854775808',
	'prev_pid == 0xffffffff', 'common_flags == 256'); # the field cannot hold them
my @ours = ('sample(1/100)', 'changed(prev_prio)', 'moved(next_prio, 5)', '!moved(prev_pid, 1K)', '1 == prev_pid', 'prev_pid == prev_prio', '(prev_pid) == 1', 'prev_pid + 1 == 2', 'prev_prio == 5ms', 'prev_state == D', 'prev_state & S');
my @not_ours = ('prev_comm.ustring == "x"', 'prev_state.function == schedule', 'stacktrace == 1',
	'prev_comm ~ "!ba*"', 'prev_pid & CPUS{1,}', '0');
# the kernel says "Error", or something else
my @said_otherwise = ('== 1', '()', '( )', '|| prev_pid == 1', '&& prev_pid == 1', 'prev_pid == 1 || || next_pid == 2',
	'prev_comm == "bash" && && prev_pid == 1', 'prev_pid == 1 && ()', '1', 'prev_comm.function == "x"',
	'CPUS{1} == prev_pid', 'prev_pid && 1', 'sample(1)', 'changed()', 'moved(prev_pid)', 'moved(prev_pid, 0)');
my @same = split(/\n/, <<'LIST');
prev_comm == "a\"b"
(prev_pid == 1 && prev_comm == ")"
((prev_pid == 1) || (prev_pid == 2)
prev_pid == 1)) || ((prev_pid == 2
(prev_pid)
prev_pid == 1
prev_pid==1
prev_pid == 1 && next_pid != 2
prev_pid == 1 ||next_pid != 2
prev_pid = 1
prev_pid
prev_pid ==
prev_pid == 0x10
prev_pid == 010
prev_pid == 08
prev_pid == -1
prev_pid == - 1
prev_pid == +1
prev_pid == --1
prev_pid == 1x
prev_pid == 100x
prev_pid == 0x
prev_pid == 1 2
prev_pid == 1.5
prev_pid == 9223372036854775808
prev_pid == 18446744073709551615
prev_state == 18446744073709551615
prev_pid == -9223372036854775809
common_type == -1
common_type < -1
common_pid > 0
common_cpu == 0
common_cpu & 1
CPU == 0
cpu == 0
CPU == -1
CPU < 1
COMM == "x"
comm == "x"
COMM ~ "x*"
common_comm == "x"
COMM == 1
prev_comm == "bash"
prev_comm == 'bash'
prev_comm == "ba'sh"
prev_comm == 'ba"sh'
prev_comm == "bash'
prev_comm == bash
prev_comm != "bash"
prev_comm ~ "ba*"
prev_comm ~ "*"
prev_comm ~ ""
prev_comm == ""
prev_comm == "!ba*"
prev_comm !~ "ba*"
prev_comm < "bash"
prev_comm & "bash"
prev_comm == 5
prev_comm ~ 5
prev_pid == "5"
prev_pid ~ "5"
prev_pid ~ 5
!prev_pid == 1
!(prev_pid == 1)
!!(prev_pid == 1)
!!!prev_pid == 1
! prev_pid == 1
!(!(prev_pid == 1))
prev_pid == 1 && !next_pid == 2
prev_pid == !1
prev_pid !== 1
(prev_pid == 1
prev_pid == 1)
((prev_pid == 1))
(((((prev_pid == 1)))))
((prev_pid == 1) && (next_pid == 2)
(prev_pid == 1)) && next_pid == 2
prev_pid == 1 && (next_pid == 2
prev_pid == 1 && (
(prev_pid == 1) && (next_pid == 2 || next_pid == 3)
(prev_pid == 1)(next_pid == 2)
prev_pid == 1 next_pid == 2
prev_pid == 1 & next_pid == 2
prev_pid == 1 | next_pid == 2
prev_pid & 1
prev_pid & -1
prev_pid & 0
prev_pid & 0xffffffff
prev_pid & 1 == 1
prev_pid << 1
prev_pid >= 1
prev_pid => 1
prev_pid <= 1
prev_pid =< 1
prev_pid <> 1
prev_pid === 1
prev_pid == 1;
prev_pid == 1 and next_pid == 2
nosuch == 1
prev-pid == 1
prev.pid == 1
none
prev_pid & CPUS{0}
prev_pid & CPUS{0-1}
prev_pid == CPUS{0-1}
prev_pid != CPUS{0-1}
prev_pid < CPUS{0-1}
prev_pid ~ CPUS{1}
prev_pid & CPUS{0-100000}
prev_pid & CPUS{}
prev_pid & CPUS{0
prev_pid & CPUS 0}
prev_pid & CPUS {0}
prev_pid & CPUS{x}
prev_pid & CPUS{1-0}
CPU & CPUS{0}
CPU == CPUS{0}
CPU & CPUS{1,0}
prev_comm & CPUS{0}
!
!!
prev_pid == 1 !
COMM.x == 1
prev_comm[0] == 98
prev_comm ~ "a[bc]*"
prev_comm ~ "a[bc"
prev_comm ~ "a\*"
prev_pid == 1\n&& next_pid == 2
LIST

# {expression => "ok", or "COLUMN MESSAGE"}
sub kernel_says {
	my %says;
	my $dir = "$tracefs/instances/schedtap-test-$$";
	my $file = "$dir/events/sched/sched_switch/filter";

	mkdir($dir) or die "$dir: $!";
	for my $e (@_) {
		my $fd = POSIX::open($file, POSIX::O_WRONLY) // die "$file: $!";
		(my $text = $e) =~ s/\\n/\n/g;
		my $ok = POSIX::write($fd, $text, length($text));
		POSIX::close($fd);
		open(my $f, '<', $file) or die "$file: $!";
		my @lines = <$f>;
		my ($caret) = grep { $lines[$_] =~ /^ *\^$/ } 0 .. $#lines;
		$says{$e} = $ok ? 'ok' : 'Error';
		$says{$e} = index($lines[$caret], '^') . ' ' . ($lines[$caret + 1] =~ s/^parse_error: |\n//gr)
			if !$ok && defined $caret;
	}
	rmdir($dir) or die "$dir: $!";
	return %says;
}

sub we_say {
	my %says;

	open(my $in, '>', "$tmp/expressions") or die;
	print $in map { "$_\n" } @_;
	close($in);
	my @lines = split(/\n/, `$check sched $tracefs/events/sched/sched_switch/format < $tmp/expressions`);
	is(scalar(@lines), scalar(@_), 'every expression gets an answer');
	@says{@_} = map { s/: did you mean.*//r } @lines;
	return %says;
}

# What comes of an expression where a word of it is missing, doubled, or another one, or one more is there.
sub broken {
	my (@words, %made);
	my @more = ('(', ')', '!', '&&', '||', '==', '&', '~', '5', '"x"', 'x', 'prev_pid', '-');

	for my $e ('prev_pid == 1', 'prev_comm ~ "b*"', '!(prev_pid & 1) && next_comm == "x"', 'CPU & CPUS{0} || prev_prio < -1') {
		my @t = $e =~ /CPUS\{0\}|\w+|-1|"[^"]*"|&&|\|\||==|\S/g;
		for my $i (0 .. $#t) {
			my ($before, $after) = (join(' ', @t[0 .. $i - 1], ''), join(' ', '', @t[$i + 1 .. $#t]));
			$made{$_} = 1 for map { s/^ +| +$//gr =~ s/  +/ /gr }
				("$before$after", "$before$t[$i] $t[$i]$after", map { ("$before$_$after", "$before$_ $t[$i]$after") } @more);
		}
		$made{"@t $_"} = 1 for @more;
	}
	return grep { $_ ne '' } sort keys %made;
}

# Whether the kernel's filters cannot express $_[0]: sums, a number on the left, a field on the right; the kernel takes
# "&&" after a field for "&".
sub is_beyond { return $_[0] =~ s/< -1\b/< 1/r =~ /-|(?:^|[(!&|] ?)5\b|(?:==|&|<) prev_pid\b|[a-zU] &&/ }

my @broken = broken();
my @all = (@same, @trailing, @numbers, @ours, @not_ours, @said_otherwise, @broken);
my %kernel = kernel_says(@all);
my %here = we_say(@all);

my $ends_early = qr/^ok$|Meaningless filter expression/; # what kernels say of an operator at the end
my @differ = grep { $here{$_} ne $kernel{$_} && !is_beyond($_) && !($kernel{$_} eq 'Error' && $here{$_} ne 'ok') &&
	!(/(?:&&|\|\|)$/ && $kernel{$_} =~ $ends_early && $here{$_} =~ /Missing term/) } @broken;
cmp_ok(scalar(@broken), '>', 500, 'broken expressions');
is(scalar(grep { $here{$_} eq $kernel{$_} } @broken) > 450, 1, 'of most of them the kernel says the same');
is_deeply(\@differ, [], 'and of the others it is known why it does not') or diag(map { "$_: kernel: $kernel{$_}, here: $here{$_}\n" } @differ);

is($here{$_}, $kernel{$_}, "as the kernel: $_") for @same;
for (@trailing) {
	like($kernel{$_}, $ends_early, "the kernel accepts, or finds meaningless: $_");
	isnt($here{$_}, 'ok', "and is refused here: $_");
}
for (@numbers, @not_ours) {
	is($kernel{$_}, 'ok', "the kernel accepts: $_");
	isnt($here{$_}, 'ok', "and is refused here: $_");
}
for (@ours) {
	isnt($kernel{$_}, 'ok', "the kernel refuses: $_");
	is($here{$_}, 'ok', "and is accepted here: $_");
}
for (@said_otherwise) {
	isnt($kernel{$_}, 'ok', "the kernel refuses: $_");
	isnt($here{$_}, 'ok', "and so is it here: $_");
	isnt($here{$_}, $kernel{$_}, "in other words: $_");
}

# ---- the same records ----

# A recorder in the background.
sub start {
	my ($file, @args) = @_;
	my $pid = fork() // die "fork: $!\n";

	if (!$pid) {
		open(STDERR, '>', "$file.err");
		exec($schedtap, 'record', '-o', $file, @args) or POSIX::_exit(127);
	}
	return { pid => $pid, file => $file, args => "@args" };
}

# Wait until its events flow, for up to a minute.
sub wait_started {
	my ($recorder) = @_;
	my $end = time + 60;

	sleep(0.01) until -e "$recorder->{file}.spool/meta.json" || time > $end || waitpid($recorder->{pid}, POSIX::WNOHANG());
}

sub stop {
	my ($recorder) = @_;

	kill('INT', $recorder->{pid});
	waitpid($recorder->{pid}, 0);
	is($?, 0, "recorded: $recorder->{args}") or diag(`cat $recorder->{file}.err`);
}

# What was lost is no slice of anything.
sub has_lost { return `cat $_[0].err` !~ /, 0 lost/ }

# {cpu => [events as text, without their times]}. Of a task that ends another CPU makes a dead one of a zombie, maybe
# between the two programs that look at it.
sub events {
	my %of;

	open(my $out, '-|', $schedtap, 'dump', @_) or die;
	while (<$out>) {
		s/ prev_state=X / prev_state=Z /;
		push @{$of{$1}}, "$2" if /-\d+ +\[(\d+)\] [\d.]+: (.*)$/;
	}
	return \%of;
}

# Whether @$part is a contiguous slice of @$whole.
sub is_slice {
	my ($part, $whole) = @_;

	return 1 unless @$part;
	for my $from (0 .. $#$whole - $#$part) {
		my $nr = 0;

		$nr++ while $nr < @$part && $whole->[$from + $nr] eq $part->[$nr];
		return 1 if $nr == @$part;
	}
	return 0;
}

# When the first event of $part, of any CPU, is in $whole, whose program saw it first. A program's first run on a CPU
# takes some 10 us: of two CPUs' first events the later one may have the earlier stamp.
sub began {
	my ($part, $whole, $event) = @_;
	my (%first, @began);

	for (split(/\n/, `$schedtap dump -i $part -e $event`)) {
		my ($cpu, $at, $text) = /\[(\d+)\] ([\d.]+): (.*)/ or next;
		next if $first{$cpu}++;
		my @near = grep { /\[$cpu\] [\d.]+: \Q$text\E$/ }
			split(/\n/, `$schedtap dump -i $whole --time @{[sprintf('%.9f,%.9f', $at - 0.0001, $at)]}`);
		push @began, @near && $near[-1] =~ /\] ([\d.]+):/ ? $1 : $at;
	}
	return (sort { $a <=> $b } @began)[0] // 0;
}

# Where $part may have begun, the likeliest first. What passed no filter has changed what 'changed' and 'moved' compare with: so it may
# have begun with any event before the first one in it.
sub beginnings {
	my ($part, $whole, $event) = @_;
	my $began = began($part, $whole, $event);
	my @before = `$schedtap dump -i $whole -e $event --time @{[sprintf('%.9f,%.9f', $began - 1, $began)]}` =~ /\] ([\d.]+):/g;

	return ($began, grep { $_ < $began } reverse(@before > 50 ? @before[-50 .. -1] : @before));
}

# A load that moves itself between CPUs: on a busy machine the load balancer may move no task.
my $load = 'system("taskset -pc $_ $$ >/dev/null") for 1, 0, 1, "0,1"; pipe(A,B);pipe(C,D); if (!fork) { close B; while (sysread(A,$x,1)) { syswrite(D,"x"); system("true") if rand() < 0.01 } exit }
	for (1 .. 600) { syswrite(B,"x"); sysread(C,$x,1); select(undef,undef,undef,0.0005) if $_ % 50 == 0 }';

# @$filters of $event: each is recorded with its filter while all is recorded without one, by the same backend: a machine may
# hide events from one of them. $together filters are recorded at a time, of one load.
my $together = 6;
my $tries_left = 2; # in all: which processes there are, and what they do, decides what passes

sub same_records {
	my ($event, $filters, @backends) = @_;
	my (@parts, $seen, $compared);

	for my $backend (@backends) {
		my @options = ('-b', $backend, '-e', $event);
		my @left = @$filters;
		my $whole = start("$tmp/$backend.dat", @options, '--buffer', '32M');

		wait_started($whole);
		while (my @some = splice(@left, 0, $together)) {
			my @recorders = map { start("$tmp/" . (@parts + $_) . '.dat', @options, '-f', $some[$_]) } 0 .. $#some;

			wait_started($_) for @recorders;
			system($^X, '-e', $load);
			stop($_) for @recorders;
			push(@parts, map { [$some[$_], $backend, $recorders[$_]{file}] } 0 .. $#some);
		}
		stop($whole);
	}
	for (@parts) {
		my ($filter, $backend, $file) = @$_;
		my $part = events('-i', $file, '-e', $event);
		my $nr = sum0(map { scalar(@$_) } values(%$part));
		my $lost = has_lost($file) || has_lost("$tmp/$backend.dat");
		my @from = $filter !~ /changed|moved/ ? '' : $lost ? () : map { "$_," } beginnings($file, "$tmp/$backend.dat", $event);
		my @differ;

		for my $from (@from) {
			my $whole = events('-i', "$tmp/$backend.dat", '-e', $event, '-f', $filter, $from ? ('--time', $from) : ());

			@differ = grep { !is_slice($part->{$_}, $whole->{$_} // []) } sort(keys(%$part));
			last if !@differ;
		}
		if (!$lost) {
			$compared += keys(%$part);
			is("@differ", '', "$backend: $event -f '$filter': the same events on each CPU");
		}
		$seen++ if $nr;
		note("$nr events");
	}
	if (($seen // 0) < 0.7 * @parts && $tries_left-- > 0) {
		note("only " . ($seen // 0) . " of " . @parts . ' filters let something through: once more');
		return same_records($event, $filters, @backends);
	}
	cmp_ok($compared // 0, '>', 0, "something of $event was compared");
	cmp_ok($seen // 0, '>=', 0.7 * @parts, "most filters of $event let something through");
}

same_records('sched_switch', [ 'prev_pid != 0', 'prev_pid & 1', 'next_comm == "perl"', 'prev_comm ~ "p*l"',
	'prev_comm ~ "*e*"', 'prev_comm != "perl" && next_comm ~ "[p-s]*"', 'prev_state == 0 || prev_state == 1',
	'prev_state & 0x2', '!(prev_prio == 120) && !(next_prio == 120)', 'CPU == 0', 'CPU & CPUS{1}', 'COMM == "perl"',
	'common_pid > 100 && (prev_prio < 100 || next_prio < 100)', 'prev_pid == -1' ], 'bpf', 'tracefs');
same_records('sched_switch', [ 'prev_pid > next_pid', 'prev_prio * 2 - next_prio == 120', 'next_pid % 3 == 1',
	'next_pid / (prev_prio - 120) == 0', 'prev_pid < 1K', 'prev_state == S && prev_prio == 120', 'sample(1/3)',
	'sample(2/3) && !sample(1/3)', 'CPU & 1', 'prev_pid != CPUS{0,1}', 'prev_comm ~ "*l"', grep { !/\b(?:COMM|comm)\b/ } split(/\n/, `$fuzz -p 9 sched sched_switch $seed`) ],
	'bpf', 'tracefs');
same_records('sched_migrate_task', [ 'dest_cpu == 1', 'comm == "perl"', 'comm ~ "*"' ], 'bpf', 'tracefs');
same_records('sched_migrate_task', [ 'dest_cpu != orig_cpu', 'CPU == 0 && dest_cpu != orig_cpu && COMM != "absent"' ], 'bpf', 'tracefs');
same_records('sched_process_exec', [ 'filename ~ "*/true"', 'filename == "/usr/bin/true" || filename == "/bin/true"' ], 'bpf', 'tracefs');
same_records('sched_pelt_se', [ 'util > 100', 'comm == "perl"', 'pid > 0 && cpu == 0', 'cgroup != 0', 'util * 8 > load' ], 'bpf');
same_records('sched_util_est_se', [ 'enqueued > util', 'comm ~ "perl*"' ], 'bpf');

# what passed is what moved() compares with, in the kernel as on reading
same_records('sched_pelt_se', [ 'moved(util, 16)', 'changed(load) && cpu == 0', 'cpu == 1 || moved(runnable, 100)' ], 'bpf');
same_records('sched_switch', [ 'changed(prev_prio)', 'moved(next_pid, 1K)', '!(prev_pid == 0) && (changed(prev_state) || sample(1/2))' ], 'bpf');

# ---- random filters, the kernel's own answers ----

{
	my $said = $ENV{SOAK} ? `$fuzz 120 $seed 2>&1` : `$fuzz -n 6 $seed 2>&1`;

	is($?, 0, 'random filters') or diag($said);
	like($said, qr/^\d{3,} filters, [1-9]\d+ of them between all and nothing/m, 'that say something') or diag($said);
	note($said);
}

# ---- what is too much ----

# CPU seconds of processes that have ended: how long one takes depends on what others do.
sub children_s { return (times)[2] + (times)[3] }

sub refused {
	my ($backend, $filter, $says, $name) = @_;

	open(my $f, '>', "$tmp/args") or die;
	print $f $filter;
	close($f);
	my $start = children_s();
	my $said = `$schedtap record -b $backend -o $tmp/no.dat -e sched_switch -f "\$(cat $tmp/args)" -- true 2>&1`;

	$says ? like($said, $says, "$backend: $name") : is($?, 0, "$backend: $name is recorded");
	diag(substr($said, 0, 500)) if !$says && $?;
	cmp_ok(children_s() - $start, '<', 5, "and fast: $name");
	unlink("$tmp/no.dat");
}
for my $backend ('bpf', 'tracefs') {
	refused($backend, join(' || ', map { "prev_pid == $_" } 1 .. 1000), undef, '1000 numbers');
	refused($backend, join(' && ', map { "next_pid != $_" } 1 .. 1000), undef, '1000 other numbers');
	refused($backend, ('(' x 1000) . 'prev_pid == 1' . (')' x 1000), undef, '1000 parentheses');
	refused($backend, 'prev_pid == 1 || ' . ('!' x 65000) . 'prev_pid == 1', undef, '64 kB');
	refused($backend, 'x' x 66000, qr/bad filter for 'sched:sched_switch': more than 65536 bytes/, 'more than 64 kB');
	refused($backend, "prev_comm == \"h\xc3\xb6\"", undef, 'a text of other letters');
	refused($backend, "h\xc3\xb6 == 1", qr/bad filter .*\n/, 'a name of other letters');
	refused($backend, 'prev_pid / 0 == 1', qr/Division by zero/, 'division by zero');
	refused($backend, 'prev_pid > 9223372036854775807 * 2', undef, 'a sum that wraps around');
	refused($backend, 'prev_pid == 99999999999999999999', qr/Illegal integer value/, 'a number that is too big');
}
refused('bpf', ('(' x 1025) . 'prev_pid == 1' . (')' x 1025), qr/Too many '\('/, 'more parentheses');
refused('bpf', join(' || ', map { "prev_comm == \"$_\"" } 1 .. 1000), undef, '1000 texts');
refused('bpf', join(' || ', map { "prev_comm ~ \"$_*\"" } 1 .. 1000), qr/too long for a BPF program/, '1000 globs');

# ---- refused before anything is recorded ----

for ([ 'nosuch == 1', 'Field not found' ], [ 'prev_pid == ', 'Invalid value' ], [ 'prev_pid == 4294967296', 'Illegal integer value' ]) {
	my ($filter, $says) = @$_;
	my $said = `$schedtap record -o $tmp/no.dat -e sched_switch -f '$filter' -- true 2>&1`;

	is($? >> 8, 2, "exit status: $filter");
	like($said, qr/bad filter for 'sched:sched_switch': \Q$says\E/, "says: $filter");
	ok(!-e "$tmp/no.dat", "records nothing: $filter");
}
like(`$schedtap record -o $tmp/some.dat -e 'sched_pelt_*' -f 'pid > 0' -- true 2>&1`,
     qr/does not apply to schedtap:sched_pelt_cfs, all of which are recorded/, 'kinds that lack a field are named');
done_testing();
