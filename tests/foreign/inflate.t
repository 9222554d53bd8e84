#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings that are compressed as a whole, and recordings from pipes, have the same reports as the file itself. Bombs, damage, cut
# data and full disks are refused with a reason, and no temporary file stays behind.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX qw(mkfifo);
use Test::More;
use Time::HiRes qw(sleep);
use lib dirname(abs_path($0)) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $dat2perf = "$ENV{BUILD}/tests/fuzz/dat2perf";
my $dir = tempdir(CLEANUP => 1);
chdir($dir) or die;
mkdir('tmp') or die;
$ENV{TMPDIR} = "$dir/tmp";

my %compress = (gzip => 'gzip -nc', zstd => 'zstd -qc', xz => 'xz -c');

system('cp', golden_recording('explain/lost'), 'x.dat') == 0 or die;
system($dat2perf, 'x.dat', 'x.data') == 0 or die;

my $scripts = 0;

# Run these scripts of bash, as commands() does.
sub scripts {
	return commands(map { $scripts++; spew("script$scripts", "$_\n"); "bash script$scripts" } @_);
}

# A report's JSON, with another name of its recording.
sub renamed {
	my ($report) = @_;

	return $report->[0] =~ s/"file":"[^"]*"/"file":""/r;
}

# The same report as of x.dat: not is(), which would print all of both.
sub same {
	my ($report, $wanted, $name) = @_;

	ok(renamed($report) eq $wanted, $name) or diag(substr($report->[2] . $report->[0], 0, 300));
}

# ---- compressed ----

my ($want, $want_perf) = map { renamed($_) } runs('latency --json -i x.dat', 'latency --json -i x.data');
my %made;

for my $name (sort(keys(%compress))) {
	system("$compress{$name} x.dat >x.$name && $compress{$name} x.data >y.$name") == 0 or die;
	$made{$name} = slurp("x.$name");
	my @got = runs("latency --json -i x.$name", "latency --json -i y.$name", "dump -i x.$name");

	same($got[0], $want, "$name: a trace.dat has the same report");
	same($got[1], $want_perf, "$name: a perf.data has the same report");
	is($got[2][2], '', "$name: without a note");
}
system('head -c 1000 x.dat | gzip -nc >two.gzip; tail -c +1001 x.dat | gzip -nc >>two.gzip');
system('head -c 1000 x.dat | zstd -qc >two.zstd; tail -c +1001 x.dat | zstd -qc >>two.zstd');
system('head -c 1000 x.dat | xz -c >two.xz; tail -c +1001 x.dat | xz -c >>two.xz');
spew('padded.gzip', $made{gzip} . "\0" x 512);
my @two = runs(map { "latency --json -i $_" } qw(two.gzip two.zstd two.xz padded.gzip));
same($two[$_], $want, ('gzip', 'zstd', 'xz', 'gzip and zeros')[$_] . ': several streams in one file') for 0 .. 3;

# ---- damaged and cut ----

my @cases;
for my $name (sort(keys(%compress))) {
	my $bytes = $made{$name};
	my $wrong = $bytes;

	substr($wrong, length($bytes) / 2, 8) = "\xff" x 8;
	spew("damaged.$name", $wrong);
	spew("cut.$name", substr($bytes, 0, length($bytes) - 30));
	spew("start.$name", substr($bytes, 0, 12));
	spew("twice", $bytes);
	system("gzip -nc twice >twice.$name");
	push(@cases, ["damaged.$name", qr/'damaged\.$name' is damaged: its $name data cannot be decompressed/],
		["cut.$name", qr/'cut\.$name' is cut: (?:its $name data ends early|nothing of its zstd data)/], # zstd writes blocks of 128 KB
		["start.$name", qr/'start\.$name' is cut: nothing of its $name data can be decompressed/],
		["twice.$name", qr/'twice\.$name' is compressed twice: decompress it with gzip first/]);
}
my @got = runs(map { "dump -i $_->[0]" } @cases);
for my $i (0 .. $#cases) {
	like($got[$i][2], $cases[$i][1], "$cases[$i][0]: says so");
	is($got[$i][1], $cases[$i][0] =~ /^twice/ ? 3 : 1, "$cases[$i][0]: exit code") unless $cases[$i][0] =~ /^cut/;
}
# what is readable without its end is read, with a note: perf.data in pipe mode
system("$here/perf2pipe", 'x.data', 'x.pipe') == 0 or die;
system('gzip -nc x.pipe >pipe.gzip') == 0 or die;
spew('short.gzip', substr(slurp('pipe.gzip'), 0, -40));
my ($short) = runs('dump -i short.gzip');
like($short->[2], qr/^schedtap: 'short\.gzip' is cut: its gzip data ends early$/m, 'a cut file that can be read: a note');
like($short->[0], qr/sched_switch/, 'a cut file that can be read: its events');

# ---- pipes ----

my @ways = ('cat x.dat | "$SCHEDTAP" latency --json -i -', 'cat x.gzip | "$SCHEDTAP" latency --json -', '"$SCHEDTAP" latency --json -i /dev/stdin <x.dat',
	'"$SCHEDTAP" latency --json - <x.xz', '"$SCHEDTAP_PROGRAM" latency --json -i <(zstd -qdc x.zstd)',
	'{ head -c 5 >/dev/null; "$SCHEDTAP" latency --json -i -; } <prefixed', '{ head -c 100 x.dat; sleep 0.2; tail -c +101 x.dat; } | "$SCHEDTAP" latency --json -i -');
system('{ printf 12345; cat x.dat; } >prefixed');
my @piped = scripts(@ways);
same($piped[$_], $want, $ways[$_]) for 0 .. $#ways;

# Open a FIFO that is written later. Return: the child.
sub write_later {
	my ($fifo, $after_s) = @_;
	my $pid = fork() // die;

	return $pid if $pid;
	sleep($after_s);
	exec('sh', '-c', "cat x.dat >$fifo") or POSIX::_exit(1);
}
mkfifo('fifo', 0600) or die;
my $writer = write_later('fifo', 0.3);
my ($fifo) = runs('latency --json -i fifo');
kill('TERM', $writer); # which waits for a reader if the program did not
waitpid($writer, 0);
same($fifo, $want, 'a FIFO whose writer comes later');

my @refused = (
	['true | "$SCHEDTAP" dump -i -', qr/'standard input' is not a recording: it has no data/, 1],
	['"$SCHEDTAP_PROGRAM" dump -i - <&-', qr/cannot read standard input/, 1],
	['"$SCHEDTAP" dump -i /dev/zero', qr{'/dev/zero' is not a recording: neither a file, a folder nor a pipe}, 1],
	['cat x.dat | "$SCHEDTAP" latency -i - -i -', qr/'standard input' is not a recording: it has no data/, 1],
	['echo text | "$SCHEDTAP" critical -', qr/'standard input' is not a recording/, 1],
	['timeout -s INT 0.5 "$SCHEDTAP_PROGRAM" dump -i fifo', qr/^$/, 124],
	['timeout -s INT 0.5 "$SCHEDTAP_PROGRAM" view -i - < <(exec sleep 1)', qr/^$/, 124],
);
my @no = scripts(map { $_->[0] } @refused);
for my $i (0 .. $#refused) {
	like($no[$i][2], $refused[$i][1], "$refused[$i][0]: says so");
	is($no[$i][1], $refused[$i][2], "$refused[$i][0]: exit code");
}
my $terminal = qx(script -qec '"\$SCHEDTAP_PROGRAM" dump -i -' /dev/null </dev/null 2>&1);
like($terminal, qr/'standard input' is a terminal: give a file/, 'a terminal');

# ---- bombs ----

# a hundred streams of 10 MB each, and frames that ask for a window of 2 GiB and of 256 MiB
system("head -c 10000000 /dev/zero | $compress{$_} >part.$_ && cat \$(yes part.$_ | head -n 100) >bomb.$_") for qw(gzip zstd);
spew('wide.zstd', "\x28\xb5\x2f\xfd" . "\x00" . "\xa8" . "\x29\x00\x00" . 'hello');
system('xz --lzma2=dict=256MiB,mf=hc3,mode=fast -c x.dat >wide.xz');
cmp_ok(-s 'bomb.gzip', '<', 1 << 20, 'the bomb is below 1 MB');
my @bombs = (
	['bomb.gzip', qr/'bomb\.gzip' is refused: decompressed it has more than 268 MB, out of proportion to its \d+ kB/],
	['bomb.zstd', qr/'bomb\.zstd' is refused: decompressed it has more than 268 MB/],
	['wide.zstd', qr/needs more than 128 MiB of memory to decompress: decompress it with zstd first/],
	['wide.xz', qr/needs more than 128 MiB of memory to decompress: decompress it with xz first/],
);
my @burst = scripts(map { "ulimit -v 600000; \"\$SCHEDTAP_PROGRAM\" dump -i $_->[0]" } @bombs);
for my $i (0 .. $#bombs) {
	like($burst[$i][2], $bombs[$i][1], "$bombs[$i][0]: refused");
	is($burst[$i][1], 1, "$bombs[$i][0]: exit code");
}

# ---- a full disk ----

SKIP: {
	skip('a small disk needs root', 2) if $> || system('unshare -m true 2>/dev/null') != 0;
	my $small = 'unshare -m sh -c \'mount -t tmpfs -o size=64k none tmp && "$SCHEDTAP_PROGRAM" dump -i ';
	my @full = scripts($small . 'bomb.gzip\'', $small . '- <x.dat\'', "head -c 1000000 bomb.gzip | $small" . '-\'');

	like($full[0][2], qr{cannot decompress 'bomb\.gzip' into a temporary file in '.*/tmp' \(set TMPDIR to use another folder\): No space left}, 'a full disk');
	is($full[0][1], 1, 'a full disk: exit code');
	like($full[2][2], qr/cannot copy 'standard input' into a temporary file .*: No space left/, 'a full disk and a pipe');
}
my ($nowhere) = scripts('TMPDIR=/nonexistent "$SCHEDTAP" dump -i x.gzip');
like($nowhere->[2], qr{cannot decompress 'x\.gzip' into a temporary file in '/nonexistent'.*: No such file}, 'no folder for temporary files');
is(join(' ', glob('tmp/*'), glob('tmp/.??*')), '', 'no temporary file stays behind');
done_testing();
