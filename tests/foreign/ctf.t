#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# CTF traces: those that perf makes of a perf.data answer as the perf.data does, and one written here has LTTng's names and priorities,
# lost events, and an event that schedtap does not define. What is damaged is refused with a sentence.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = abs_path(dirname(__FILE__));
my $schedtap = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my $build = $ENV{BUILD} // "$here/../../build";
plan(skip_all => 'no libbabeltrace2.so.0') if !grep { -e "$_/libbabeltrace2.so.0" } glob('/usr/lib/*-linux-gnu /usr/lib64 /usr/lib');
my $dir = memory_folder();
chdir($dir) or die "$dir: $!\n";

# ---- LTTng's ------------------------------------------------------------------------------------
# LTTng writes 20 for the kernel's priority 120.
my $metadata = <<'METADATA';
/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
env { hostname = "box"; kernel_release = "6.1.0-9"; sysname = "Linux"; tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13; };
clock { name = monotonic; freq = 1000000000; offset = 0; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := stamp_t;
stream {
	id = 0;
	packet.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end; uint64_t content_size; uint64_t packet_size;
		uint64_t events_discarded; uint32_t cpu_id; };
	event.header := struct { uint32_t id; stamp_t timestamp; };
};
event { id = 0; name = "sched_switch"; stream_id = 0; fields := struct { string prev_comm; int32_t prev_tid; int32_t prev_prio;
	int64_t prev_state; string next_comm; int32_t next_tid; int32_t next_prio; }; };
event { id = 1; name = "sched_waking"; stream_id = 0; fields := struct { string comm; int32_t tid; int32_t prio; int32_t target_cpu; }; };
event { id = 3; name = "sched_wakeup"; stream_id = 0; fields := struct { string comm; int32_t tid; int32_t prio; int32_t target_cpu; }; };
event { id = 2; name = "own_thing"; stream_id = 0; fields := struct { int32_t a; string b; }; };
METADATA

sub switch { return pack('VQ<Z*l<l<q<Z*l<l<', 0, @_[0, 1, 2], 20, $_[3], @_[4, 5], 20) }
sub waking { return pack('VQ<Z*l<l<l<', 1, @_[0, 1, 2], 20, $_[3]) }
sub wakeup { return pack('VQ<Z*l<l<l<', 3, @_[0, 1, 2], $_[4] // 20, $_[3]) }
sub thing { return pack('VQ<l<Z*', 2, @_) }

# A packet of CPU $cpu, with the number of events that it has discarded up to its end.
sub packet {
	my ($cpu, $discarded, $begin, $end, @events) = @_;
	my $body = join('', @events);
	my $bits = 8 * (8 + 44 + length($body));

	return pack('VV', 0xc1fc1fc1, 0) . pack('Q<Q<Q<Q<Q<V', $begin, $end, $bits, $bits, $discarded, $cpu) . $body;
}

my $s = 1_000_000_000;
mkdir('lttng') or die;
mkdir('lttng/kernel') or die;
spew('lttng/kernel/metadata', $metadata);
spew('lttng/kernel/channel0_0', packet(0, 0, $s, $s + 3_000_000, switch($s, 'swapper/0', 0, 0, 'a', 10),
		switch($s + 1_000_000, 'a', 10, 1, 'b', 11), waking($s + 2_000_000, 'a', 10, 1), thing($s + 3_000_000, -5, 'x y'))
	. packet(0, 7, $s + 3_000_000, $s + 9_000_000, switch($s + 8_000_000, 'c', 12, 0x100, 'swapper/0', 0)));
spew('lttng/kernel/channel0_1', packet(1, 0, $s, $s + 9_000_000, switch($s + 2_500_000, 'swapper/1', 0, 0, 'a', 10), switch($s + 9_000_000, 'a', 10, 2, 'swapper/1', 0)));

my $dump = `$schedtap dump -i lttng 2>&1`;
is($dump, <<'DUMP', 'events, tasks, lost events');
          <idle>-0       [000] 1.000000000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120
               a-10      [000] 1.001000000: sched:sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=b next_pid=11 next_prio=120
               b-11      [000] 1.002000000: sched:sched_waking: comm=a pid=10 prio=120 target_cpu=001
          <idle>-0       [001] 1.002500000: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120
               b-11      [000] 1.003000000: lttng:own_thing: a=-5 b=x y
*** [000] 7 events lost between 1.003000000 and 1.008000000
               b-11      [000] 1.008000000: sched:sched_switch: prev_comm=c prev_pid=12 prev_prio=120 prev_state=R+ ==> next_comm=swapper/0 next_pid=0 next_prio=120
               a-10      [001] 1.009000000: sched:sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=D ==> next_comm=swapper/1 next_pid=0 next_prio=120
DUMP
like(scalar(`$schedtap summary -i lttng`), qr/^# lttng, kernel Linux box 6\.1\.0-9, .*lost 7/, 'kernel and losses');
is(`$schedtap dump -i lttng/kernel`, $dump, 'the inner folder is the same');
mkdir('old') or die;
spew('old/metadata', $metadata =~ s/tracer_minor = 13/tracer_minor = 7/r);
spew('old/channel0_0', packet(0, 0, $s, $s + 9_000_000, switch($s, 'a', 10, 1, 'b', 11), wakeup($s + 1_000_000, 'a', 10, 0, 120), switch($s + 1_300_000, 'b', 11, 1, 'a', 10)));
like(scalar(`$schedtap latency --json -i old`), qr/"max_ns":300000\b/, 'a wait from sched_wakeup, which has no definition');
is(join(' ', `$schedtap dump -i old` =~ /prio=(-?\d+)/g), '120 120 120 120 120', 'before 2.8, LTTng wrote the kernel\'s priority in wakeups');
mkdir('user') or die;
spew('user/metadata', $metadata =~ s/kernel_release.*?;//r =~ s/lttng-modules/lttng-ust/r);
spew('user/channel0_0', packet(0, 0, $s, $s + 9_000_000, thing($s, 1, 'x')));
like(scalar(`$schedtap summary -i user`), qr/^# user, CTF of lttng-ust, window/, 'a trace of user space has no kernel');
my ($wait) = `$schedtap latency --json -i lttng` =~ /"max_ns":(\d+)/;
is($wait, 500_000, 'the wait of a, woken on another CPU');

# A stream with the events of all CPUs, as older versions of perf write them: only an event says on which CPU it was.
my $of_perf = $metadata =~ s/\s*uint64_t events_discarded; uint32_t cpu_id;/ uint64_t events_discarded;/r =~ s/string prev_comm/uint32_t perf_cpu; string prev_comm/r =~
	s/string comm; int32_t tid; int32_t prio/uint32_t perf_cpu; string comm; int32_t tid; int32_t prio/r;
sub of_cpu { return substr($_[1], 0, 12) . pack('V', $_[0]) . substr($_[1], 12) }
sub perf_packet { return packet(0, @_) =~ s/\A(.{48})..../$1/sr =~ s/\A(.{24})(.{8})(.{8})/$1 . pack('Q<Q<', map { unpack('Q<', $_) - 32 } $2, $3)/sre }
mkdir('perf_old') or die;
spew('perf_old/metadata', $of_perf);
spew('perf_old/stream_0', perf_packet(0, $s, $s + 9_000_000, of_cpu(0, switch($s, 'a', 10, 1, 'b', 11)), of_cpu(3, switch($s + 1_000_000, 'swapper/3', 0, 0, 'c', 12)),
		of_cpu(0, waking($s + 2_000_000, 'a', 10, 1)), of_cpu(3, switch($s + 9_000_000, 'c', 12, 1, 'a', 10))));
is(`$schedtap dump -i perf_old 2>&1` =~ s/ prev_.*| comm=.*//gr, <<'DUMP', 'CPUs of events of one stream');
               a-10      [000] 1.000000000: sched:sched_switch:
          <idle>-0       [003] 1.001000000: sched:sched_switch:
               b-11      [000] 1.002000000: sched:sched_waking:
               c-12      [003] 1.009000000: sched:sched_switch:
DUMP
spew('perf_old/metadata', $of_perf =~ s/perf_cpu/other/gr);
is(`$schedtap summary -i perf_old 2>&1`, "schedtap: 'perf_old' is a CTF trace without events of CPUs\n", 'no event has a CPU');
is($? >> 8, 1, '... which is a failure');

# What a report says of tasks and times, without the head; perf.data also has names and processes of tasks without an event.
sub answer {
	my ($report, $input) = @_;

	return join("\n", map {
		my $said = decode_json($_);

		delete($said->{recording});
		JSON::XS->new->canonical->encode($said) =~ s/"(?:\w+_)?(?:tgid|comm)":(?:null|\d+|"[^"]*"),?//gr;
	} split(/\n/, `$schedtap $report --json -i $input 2>/dev/null`));
}

# ---- perf's -------------------------------------------------------------------------------------
SKIP: {
	skip('no perf, or one without CTF', 9) if `perf data convert --help 2>&1` !~ /to-ctf/;
	system('perf record -q -e sched:sched_switch -e sched:sched_waking -e sched:sched_migrate_task -a -o in.data sleep 0.3 2>perf.txt') == 0
		or skip('perf cannot record here: ' . slurp('perf.txt'), 9);
	my $said = `perf data convert -i in.data --to-ctf perf.ctf 2>&1`;
	ok(-e 'perf.ctf/metadata', 'perf converts') or diag($said);
	for my $report (qw(latency states timehist wakers)) {
		my ($want, $got) = map { answer($report, $_) } qw(in.data perf.ctf);

		ok(length($got) > 40, "$report: an answer");
		ok($got eq $want, "$report: the same");
	}
}

# Before Linux 4.14, prev_state has the task's state as the kernel keeps it, and TASK_STATE_MAX for +.
for (['3.6.1', 0x200, 0x40, 0x82], ['3.10.0', 0x400, 0x40, 0x82], ['4.4.3-1-ARCH', 0x800, 0x40, 0x402], ['4.13.0', 0x1000, 0x200, 0x402]) {
	my ($release, @states) = @$_;

	system('rm -rf states; mkdir states');
	spew('states/metadata', $metadata =~ s/6\.1\.0-9/$release/r);
	spew('states/channel0_0', packet(0, 0, $s, $s + 90, map { switch($s + $_, 'a', 10, $states[$_] // 1, 'b', 11) } 0 .. 3));
	is(join(' ', `$schedtap dump -i states 2>&1` =~ /prev_state=(\S+)/g), {'3.6.1' => 'R+ X D S', '3.10.0' => 'R+ X D S', '4.4.3-1-ARCH' => 'R+ X I S', '4.13.0' => 'R+ P I S'}->{$release},
		"states of Linux $release");
}

# ---- damage -------------------------------------------------------------------------------------
sub refused {
	my ($name, $file, $content) = @_;

	system('rm -rf bad; cp -r lttng/kernel bad');
	spew("bad/$file", $content);
	my $said = `timeout 20 $schedtap summary -i bad 2>&1`;
	is($? >> 8, 1, "$name: refused") or diag($said);
	like($said, qr/^schedtap: 'bad' .*CTF/m, "$name: a sentence");
}

my $stream = slurp('lttng/kernel/channel0_0');
refused('metadata cut', 'metadata', substr($metadata, 0, 700));
refused('metadata that is none', 'metadata', "/* CTF 1.8 */ trace { nonsense");
refused('a stream cut in its first packet', 'channel0_0', substr($stream, 0, 100));
refused('another magic', 'channel0_0', 'x' x 200);
mkdir('empty') or die;
spew('empty/metadata', $metadata);
like(scalar(`$schedtap summary -i empty 2>&1`), qr/^schedtap: 'empty' is a CTF trace without streams: /, 'metadata alone');
is(join('', glob('/var/tmp/schedtap*')), '', 'nothing is left');
chdir('/'); # to be removed, a folder must not be the current one
done_testing();
