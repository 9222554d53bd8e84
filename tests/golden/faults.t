#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings that are damaged, hostile or of no use, in every report and every format: a report
# says one sentence and fails with nothing on standard output, or it prints what is well-formed
# and adds up.
use strict;
use warnings;
use Fcntl qw(F_SETFD);
use File::Basename qw(dirname);
use JSON::XS;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

# where the recordings are: small, so that an output without end is an error and no full disk
my $dir = memory_folder();
my ($nr, $failed) = (0, 0);
$ENV{LC_ALL} = 'C';
chdir($dir) or die "$dir: $!\n";
END { chdir('/') } # to be removed, a folder must not be the current one

# the commands run on each recording; dump comes first and is not a report: it shows which events exist
my @commands = ('dump', 'summary', 'timehist', 'timehist -s', 'latency', 'explain', 'critical -t 10 --path',
	'critical --between sched_switch,sched_switch', 'map', 'pelt', 'pelt --what-if halflife=1ms', 'states', 'wakers',
	'migrations', 'migrations --list', 'balance', 'placement', 'placement --list', 'resched', 'eevdf', 'diff', 'diff --by task');
my @reports = @commands[1 .. $#commands];
my @styles = ('', '--json', '--csv');

# ---- what a run gave, and what is wrong with it ------------------------------------------------

sub csv_fields {
	my ($text) = @_;
	my @rows;
	while ((pos($text) // 0) < length $text) {
		my $nr = 0;
		do {
			$text =~ /\G(?:"(?:[^"]|"")*"|[^",\n]*)/gc or return ();
			$nr++;
		} while ($text =~ /\G,/gc);
		$text =~ /\G\r?\n/gc or return ();
		push @rows, $nr;
	}
	return @rows;
}

# A command on a recording; `diff` compares it with another.
sub on {
	my ($command, $file) = @_;

	return $command =~ /^diff/ ? "$command other.dat $file" : "$command -i $file";
}

# Return: '', or what is wrong with a text of this style.
sub malformed {
	my ($style, $text) = @_;
	if ($style eq '--json') {
		my $json = JSON::XS->new->utf8;
		my $whole = eval { $json->decode($text); 1 };
		for my $line ($whole ? () : split(/\n/, $text)) {
			return "no JSON: $line" unless eval { $json->decode($line); 1 };
		}
	} elsif ($style eq '--csv') {
		my @rows = csv_fields($text);
		return 'no CSV' if $text ne '' && !@rows;
		return 'rows of ' . join(' ', @rows) . ' fields' if grep { $_ != $rows[0] } @rows;
	} else {
		return 'control bytes in the text' if $text =~ /[\x00-\x09\x0b-\x1f\x7f]/;
	}
	return '';
}

# Return: '', or what is wrong with what a run gave. @$want: exit codes that are right
sub judge {
	my ($ran, $style, $want, $may_print) = @_;
	my ($out, $code, $err) = @$ran;
	return "exit $code, not @$want: $err" unless grep { $_ == $code } @$want;
	return "on standard error: $err" if $err =~ /[\x00-\x09\x0b-\x1f\x7f]/ || $err =~ /assert|Sanitizer|runtime error/;
	return "fails without a sentence" if $code && $err !~ /\Aschedtap: [^\n]{10,}\n/;
	return "printed before it failed: $out" if $code && $out ne '' && !$may_print;
	return malformed($style, $out);
}

# Small recordings are copied; with no descriptor for that, pages are read where they are mapped.
# Return: '', or that this gives something else.
sub mapped_differs {
	my ($args) = @_;
	my ($copied, $mapped) = map { join("\n", @$_) } commands(map { "$_ \"\$SCHEDTAP_PROGRAM\" $args" } '', 'prlimit --nofile=4');
	return $copied eq $mapped ? '' : "copied: $copied\nmapped: $mapped";
}

sub ok {
	my ($name, @wrong) = @_;
	my $wrong = join("\n", grep { defined && $_ ne '' } @wrong);
	$nr++;
	$failed = 1 if $wrong ne '';
	print $wrong ne '' ? 'not ok ' : 'ok ', "$nr - $name\n";
	$wrong =~ s/[^\n -~]/?/g;
	print STDERR map { "# $_\n" } split(/\n/, substr($wrong, 0, 4000));
}

# All styles of all @$commands. %$codes: by command, else '': the exit codes that are right
sub check {
	my ($name, $file, $codes, %opts) = @_;
	my (@wrong, @runs);
	for my $command (@{$opts{commands} // \@commands}) {
		push @runs, map { [$command, $_, on($command, $file) . ' ' . ($opts{args} // '') . " $_"] } @styles;
	}
	my @ran = runs(map { $_->[2] } @runs);
	for (@runs) {
		my ($command, $style) = @$_;
		my $why = judge(shift(@ran), $style, $codes->{$command} // $codes->{''}, $command eq 'dump');
		push @wrong, "$command $style: $why" if $why ne '';
	}
	push @wrong, mapped_differs("dump -i $file " . ($opts{args} // '')) if -f "$dir/$file";
	ok($name, @wrong);
}

# ---- recordings --------------------------------------------------------------------------------

sub dat {
	my ($name, $text, @how) = @_;
	spew("$dir/$name.txt", $text);
	system($ENV{MKDAT}, "$dir/$name.txt", "$dir/$name.dat", @how) == 0 or die "$ENV{MKDAT} failed\n";
	return "$name.dat";
}

sub switch_line {
	my ($ns, $cpu, $from, $to, %o) = @_;
	my ($from_comm, $to_comm) = map { $_ ? $o{comm} // "t$_" : "swapper/$cpu" } $from, $to;
	return "$ns $cpu $from sched:sched_switch prev_comm=$from_comm prev_pid=$from prev_prio=120 " .
		"prev_state=" . ($o{state} // 1) . " next_comm=$to_comm next_pid=$to next_prio=120\n";
}

sub waking_line {
	my ($ns, $cpu, $by, $tid, $comm) = @_;
	return "$ns $cpu $by sched:sched_waking comm=" . ($comm // "t$tid") . " pid=$tid prio=120 target_cpu=0\n";
}

# Two CPUs that run 10 and 20 by turns, each woken by the other's CPU.
sub plain {
	my ($nr, $comm) = @_;
	my ($text, $t) = ("cpus 2\n", 1_000_000_000);
	for (1 .. $nr) {
		$text .= "$t 0 0 schedtap:sched_pick next_pid=10 vtime=100 next_lag=10 next_deadline=50 next_weight=1048576 group=1\n";
		$text .= switch_line($t, 0, 0, 10, comm => $comm) . switch_line($t + 50, 1, 0, 20, comm => $comm);
		$text .= "@{[$t + 90]} 0 10 schedtap:sched_entry comm=t10 pid=10 preempt=0\n" . switch_line($t + 100, 0, 10, 0, comm => $comm);
		$text .= waking_line($t + 200, 1, 20, 10, $comm);
		$text .= "@{[$t + 210]} 1 20 sched:sched_migrate_task comm=@{[$comm // 't10']} pid=10 prio=120 orig_cpu=1 dest_cpu=0\n";
		$text .= "@{[$t + 220]} 1 20 schedtap:sched_pelt_cfs cpu=1 cgroup=1 util=100 load=5\n";
		$text .= switch_line($t + 250, 1, 20, 0, comm => $comm) . waking_line($t + 300, 0, 0, 20, $comm);
		$t += 1000;
	}
	return $text;
}

# Each CPU's and each task's times against the window. Return: '', or what does not add up.
sub adds_up {
	my ($file, $args) = @_;
	my ($ran) = runs("summary -i $file --json " . ($args // ''));
	my $s = eval { decode_json($ran->[0]) } or return "no summary: $ran->[2]";
	for my $cpu (@{$s->{cpus}}) {
		return "CPU $cpu->{cpu} does not add up" if
			$cpu->{run_ns} + $cpu->{idle_ns} + $cpu->{unknown_ns} != $s->{recording}{window_ns};
	}
	for my $task (@{$s->{tasks}}) {
		my $sum = 0;
		$sum += $task->{$_ . '_ns'} for qw(run waking preempted sleep blocked stopped unknown);
		return "task $task->{tid} does not add up" if $sum != $task->{life_ns};
	}
	return '';
}

my $whole = dat('whole', plain(60));
dat('other', plain(59));
my $bytes = slurp("$dir/$whole");

# ---- nothing, or not enough --------------------------------------------------------------------

check('a whole recording is read by all', $whole, { '' => [0] });
spew("$dir/zero.dat", '');
spew("$dir/text.dat", "hello\n" x 100);
mkdir("$dir/folder");
check('a file of 0 bytes is refused', 'zero.dat', { '' => [1] });
check('a text is refused', 'text.dat', { '' => [1] });
check('a folder without a recording is refused', 'folder', { '' => [1] });
check('no file is refused', 'none.dat', { '' => [1] });
check('a device is refused', '/dev/null', { '' => [1] });
check('a recording without events', dat('empty', "cpus 2\n"),
	{ '' => [1], dump => [0], summary => [0] });
check('a recording without switches', dat('wakings', join('', map { waking_line($_, 0, 1, 10) } 1000 .. 1020)),
	{ '' => [1], dump => [0], summary => [0] });
check('signals, and no switches', dat('signals', "1000 0 1 schedtap:sched_pelt_cfs cpu=0 cgroup=1 util=100 load=5\n" .
	"2000 0 1 schedtap:sched_pelt_cfs cpu=0 cgroup=1 util=90 load=5\n"),
	{ '' => [1], dump => [0], summary => [0], pelt => [0] });
check('signals of none that was asked for', dat('group', switch_line(1000, 0, 0, 1) .
	"1000 0 1 schedtap:sched_pelt_cfs cpu=0 cgroup=7 util=100 load=5\n"),
	{ '' => [1] }, commands => ['pelt']);
check('one CPU', dat('one', "cpus 1\n" . join('', map {
		switch_line(1000 * $_, 0, 10, 20) . waking_line(1000 * $_ + 400, 0, 20, 10) .
		switch_line(1000 * $_ + 500, 0, 20, 10) } 1000 .. 1050)),
	{ '' => [0], balance => [1], pelt => [1], resched => [1], eevdf => [1] });

# ---- windows -----------------------------------------------------------------------------------

my %no_window = ('' => [1]);
check('--time after the end', $whole, \%no_window, args => '--time 500,600');
check('--time before the beginning', $whole, \%no_window, args => '--time 0.1,0.2');
check('--time between two events', $whole, { '' => [0, 1], dump => [1], summary => [0] },
	args => '--time 1.000000110,1.000000190');
check('--time that ends before it begins is wrong usage', $whole, { '' => [2] }, args => '--time 2,1');
check('--time that is no time is wrong usage', $whole, { '' => [2] }, args => '--time x,1');
ok('the times reported for a window add up', adds_up($whole, '--time 1.000010110,1.000040190'),
	adds_up($whole, '--time 1.000000110,1.000000190'));

# ---- damage ------------------------------------------------------------------------------------

for my $part (0.05, 0.3, 0.6, 0.9, 0.99) {
	spew("$dir/cut.dat", substr($bytes, 0, int($part * length $bytes)));
	check("cut at $part", 'cut.dat', { '' => [0, 1] });
}
my (@wrong, @runs);
$bytes =~ s/stsums1/stsums0/g; # without checksums: with them, what is at the front is refused
for (my $at = 0; $at < length $bytes; $at += 997) {
	my $lie = $bytes;
	substr($lie, $at, 8) = "\xff" x 8;
	spew("$dir/lie-$at.dat", $lie);
	push @runs, map { ["$_ -i lie-$at.dat", /json/ ? '--json' : ''] } 'summary --json', 'timehist';
}
my @ran = runs(map { $_->[0] } @runs);
for (@runs) {
	my ($args, $style) = @$_;
	my $why = judge(shift(@ran), $style, [0, 1]);
	push @wrong, "$args: $why" if $why ne '';
}
ok('sizes that lie', @wrong);

# page 2 of CPU 0 is stamped 1 ms too early, before page 1
my $text = plain(100);
my $back = dat('back', $text);
my ($bytes_back, $pages, %seen) = (slurp("$dir/$back"), 0);
while ($text =~ /^(\d+) 0 /mg) {
	next if $seen{$1}++;
	my $stamp = pack('Q<', $1);
	my $at = index($bytes_back, $stamp);
	while ($at >= 0 && $at % 4096) {
		$at = index($bytes_back, $stamp, $at + 1);
	}
	next if $at < 0 || ++$pages != 2;
	substr($bytes_back, $at, 8) = pack('Q<', $1 - 1_000_000);
}
spew("$dir/$back", $bytes_back);
ok('there is a page whose time can go back', $pages > 1 ? '' : "$pages pages");
check('time that goes back', $back, { '' => [0] });
ok('time that goes back adds up', adds_up($back));
my $summary = decode_json((runs("summary -i $back --json"))[0][0]);
ok('a page whose time goes back is a loss', @{$summary->{lost}{intervals}} == 1 ? '' :
	@{$summary->{lost}{intervals}} . ' losses');

# ---- byte order --------------------------------------------------------------------------------

@wrong = ();
for my $order ('', '--big-endian') {
	system("$ENV{BUILD}/tests/fuzz/dat2perf", "$dir/$whole", "$dir/perf$order.data", $order || ()) == 0 or die "dat2perf failed\n";
}
my @little = runs(map { on($_, 'perf.data') } @commands);
my @big = runs(map { on($_, 'perf--big-endian.data') } @commands);
for my $i (0 .. $#commands) {
	my ($little, $big) = ($little[$i], $big[$i]);
	s/perf(--big-endian)?\.data *//g for @$little[0, 2], @$big[0, 2];
	push @wrong, "$commands[$i]: $little->[2]" if $little->[1];
	push @wrong, "$commands[$i]: @$big[0, 2]" if "@$little" ne "@$big";
}
ok('a perf.data of the other byte order says the same', @wrong);
check('a perf.data of the other byte order, in all formats', 'perf--big-endian.data', { '' => [0] });

# ---- names -------------------------------------------------------------------------------------

my $hostile = dat('hostile', plain(5, '"' . join('', map { sprintf('\\x%02x', $_) } 0x01 .. 0x08, 0x0a .. 0x0d, 0x1b, 0x22, 0x2c) . '"'));
check('a name of 15 control characters', $hostile, { '' => [0], 'diff --by task' => [1] });

# ---- standard output ---------------------------------------------------------------------------

# Every command in every style, started with this standard output. Return: what is wrong.
sub to_output {
	my ($to, $code, $err) = @_;
	my @args = map { my $on = on($_, $whole); map { "$on $_" } @styles } @commands;
	my @ran = commands(map { "\"\$SCHEDTAP_PROGRAM\" $_ $to" } @args);

	return map { "$args[$_]: exit $ran[$_][1]: $ran[$_][2]" } grep { $ran[$_][1] != $code || $ran[$_][2] !~ $err } 0 .. $#args;
}

my @full = to_output('>/dev/full', 1, qr/\Aschedtap: .*No space/);
my @closed = to_output('>&-', 1, qr/\Aschedtap: ./);
pipe(my $reader, my $gone) or die "pipe: $!\n";
close($reader);
fcntl($gone, F_SETFD, 0) or die "fcntl: $!\n"; # the programs have it
$SIG{PIPE} = 'IGNORE'; # commands inherit this: they must notice the closed pipe by EPIPE
my @gone = to_output('>&' . fileno($gone), 0, qr/\A\z/);
ok('standard output on a full disk is an error', @full);
ok('a closed standard output is an error', @closed);
ok('a reader that has gone is no error', @gone);

print "1..$nr\n";
exit $failed;
