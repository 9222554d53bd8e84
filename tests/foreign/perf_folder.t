#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Folders of `perf record --threads` have the same reports as one file with all records: folders that are made here by splitting a
# perf.data by CPU, and one that perf makes where it can record. And what other folders and files are said to be.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::XS;
use Test::More;
use lib dirname(abs_path($0)) . '/..';
use Files;
use Recordings;

my $dat2perf = "$ENV{BUILD}/tests/fuzz/dat2perf";
my $dir = tempdir(CLEANUP => 1);
chdir($dir) or die;
mkdir($_) or die for qw(file folder);

my @reports = ('summary', 'timehist', 'latency', 'explain', 'states', 'map', 'dump');

# Split a file of dat2perf, in this machine's byte order, into the folder $out: a file for each CPU that has records.
sub split_file {
	my ($in, $out) = @_;
	my $data = slurp($in);
	my ($at, $size) = unpack('QQ', substr($data, 40));
	my ($bits) = unpack('Q', substr($data, 72));
	my ($features_at, $features_size) = unpack('QQ', substr($data, $at + $size));
	my $tracing = substr($data, $features_at, $features_size);
	my $kept = '';
	my %of;

	die "$in has other features than tracing data\n" if $bits != 1 << 1;
	for (my $i = $at; $i < $at + $size;) {
		my ($type, $bytes) = unpack('Lx2S', substr($data, $i, 8));
		my $record = substr($data, $i, $bytes);
		my $cpu = unpack('L', substr($record, $type == 9 ? 32 : -16)); # 9: a sample

		$type == 69 ? $kept .= $record : ($of{$cpu} .= $record); # 69: the ids' CPUs
		$i += $bytes;
	}
	my $table = $at + length($kept) + 32; # the two features' positions are before it
	my $head = substr($data, 0, $at);

	substr($head, 48, 8) = pack('Q', length($kept));
	substr($head, 72, 8) = pack('Q', 1 << 1 | 1 << 24); # 24: the folder's layout
	mkdir($out) or die "$out: $!\n";
	spew("$out/data", $head . $kept . pack('QQQQ', $table, length($tracing), $table + length($tracing), 8) . $tracing . pack('Q', 1));
	my @cpus = sort { $a <=> $b } keys(%of);
	spew("$out/data.$_", $of{$cpus[$_]}) for 0 .. $#cpus;
	return scalar(@cpus);
}

my $files = 0;
for my $case (qw(explain/lost dump/wall timehist/hostile-events summary/off_within)) {
	for my $form ('', '--switches', '--chains') {
		my $name = ($case =~ tr{/}{-}r) . "$form.data";

		system($dat2perf, golden_recording($case), "file/$name", $form || ()) == 0 or die;
		$files += split_file("file/$name", "folder/$name");
		my @got = commands(map { my $report = $_; map { "sh -c 'cd $_ && exec \"\$SCHEDTAP\" $report --json -i $name'" } qw(file folder) } @reports);
		my @differ = grep { $got[2 * $_][0] ne $got[2 * $_ + 1][0] || $got[2 * $_][1] != $got[2 * $_ + 1][1] } 0 .. $#reports;

		is(join(', ', map { "$reports[$_]: $got[2 * $_ + 1][2]" } @differ), '', "$case $form: the same reports");
	}
}
cmp_ok($files, '>', 12, "there are $files files of CPUs");

# ---- damage ----

sub events_of {
	my ($path) = @_;
	my ($got) = runs("dump --json -i $path");

	return ([map { decode_json($_) } split(/\n/, $got->[0])], $got);
}

my ($whole) = events_of('folder/explain-lost.data');
my $first = slurp('folder/explain-lost.data/data.0');

spew('folder/explain-lost.data/data.0', substr($first, 0, -9));
my ($cut) = events_of('folder/explain-lost.data');

is(scalar(grep { $_->{event} } @$cut), scalar(grep { $_->{event} } @$whole) - 1, 'one cut record is missing');
is(scalar(@$cut), scalar(@$whole), 'and is reported as lost');
# the files the other way round: what the first one has is later than where the second one is cut
rename('folder/explain-lost.data/data.1', 'folder/explain-lost.data/data.0') or die;
spew('folder/explain-lost.data/data.1', substr($first, 0, length($first) / 2));
my ($lost) = events_of('folder/explain-lost.data');
my ($unknown) = grep { $_ && !$_->{count} } map { $_->{lost} } @$lost;
my ($newest) = sort { $b <=> $a } map { $_->{ts_ns} // 0 } @$lost;
is($unknown->{first_ns}, $newest, 'the loss begins with the last event of the cut file');
cmp_ok($newest, '<', $unknown->{last_ns}, 'and ends with the newest record of all files');
unlink('folder/explain-lost.data/data.0');
like((events_of('folder/explain-lost.data'))[1][2], qr/^$|no events/, 'a folder without its first file is read');
symlink('/dev/zero', 'folder/dump-wall.data/data.9') or die;
is((events_of('folder/dump-wall.data'))[1][1], 0, 'files after a missing number are ignored');
rename('folder/dump-wall.data/data.9', 'folder/dump-wall.data/data.0') or die;
like((events_of('folder/dump-wall.data'))[1][2], qr{cannot read 'folder/dump-wall.data/data.0'}, 'a device in the place of a file');
like((events_of('folder/timehist-hostile-events.data/data'))[1][2], qr/give the folder/, 'data alone: says where the events are');
my $layout = slurp('folder/timehist-hostile-events.data/data');
spew('folder/timehist-hostile-events.data/data', substr($layout, 0, -8) . pack('Q', 2));
like((events_of('folder/timehist-hostile-events.data'))[1][2], qr/with layout 2, and only layout 1/, 'another layout');

# ---- what perf makes ----

SKIP: {
	my $record = 'perf record --threads -e sched:sched_switch -e sched:sched_waking -a';

	skip('perf cannot record with threads here', 2) if system("$record -o probe -- true >/dev/null 2>&1") != 0;
	for my $options ('', '-z') {
		system("$record $options -o perf$options -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done' >/dev/null 2>&1") == 0 or die;
		my $events = () = qx(perf script -i perf$options -F event 2>/dev/null) =~ /^\s*\S+:/mg;
		my ($ours) = events_of("perf$options");

		is(scalar(grep { ($_->{event} // '') =~ /^sched:/ } @$ours), $events, "perf record --threads $options: all $events events");
	}
}

# ---- what is something else ----

mkdir($_) or die for qw(ctf lttng lttng/kernel nothing tracefs);
spew('ctf/metadata', '/* CTF 1.8 */');
spew('lttng/kernel/metadata', pack('L', 0x75D11D57) . 'x' x 30);
spew('tracefs/trace_pipe', '');
my @others = (
	['ctf', undef, qr/CTF traces?\b.*libbabeltrace2|a CTF trace that cannot be read to its end: `babeltrace2 ctf` says why/],
	['lttng', undef, qr/CTF trace/],
	['tracefs', undef, qr/a folder of tracefs: 'trace-cmd extract'/],
	['nothing', undef, qr/is not a recording: it has no head\.dat$/],
	['stream', pack('L', 0xC1FC1FC1) . 'x' x 50, qr/a stream of a CTF trace/],
	['page', "<!DOCTYPE html>\n<title>schedtap</title>", qr/an HTML report of schedtap: open it in a browser/],
	['chrome', "{\n  \"traceEvents\": []}", qr/a Chrome JSON trace/],
	['chrome_array', "[{\"name\": \"x\", \"ph\": \"B\"}]", qr/a Chrome JSON trace/],
	['zip', "PK\3\4" . 'x' x 40, qr/a zip archive.*unzip -p/],
	['bzip2', 'BZh91AY', qr/compressed with bzip2.*bzip2 -dc/],
	['lz4', "\x04\x22\x4d\x18xxxx", qr/compressed with lz4.*lz4 -dc/],
	['spaces', ' ' x 5000, qr/is not a recording: expected a trace.dat, a perf.data/],
	['nul', "\0" x 100, qr/is not a recording: expected a trace.dat, a perf.data/],
);
spew($_->[0], $_->[1]) for grep { defined($_->[1]) } @others;
my @got = runs(map { "dump -i $_->[0]" } @others);
for my $i (0 .. $#others) {
	like($got[$i][2], $others[$i][2], "$others[$i][0]: named");
	is($got[$i][1], 1, "$others[$i][0]: exit code");
}
done_testing();
