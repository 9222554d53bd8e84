#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Events of one's own: each built-in header, read at run time under another system's name, records beside what is built
# in, and must have recorded the same; definitions in one line; what is wrong is said with its place.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $tmp = tempdir(CLEANUP => 1);

plan skip_all => 'needs root' if $> != 0;
plan skip_all => 'no BTF' unless -e '/sys/kernel/btf/vmlinux';

chdir $tmp or die;

sub slurp { my ($file) = @_; local $/; open(my $f, '<', $file) or die "$file: $!"; return scalar <$f> }
sub spew { my ($file, $text) = @_; open(my $f, '>', $file) or die "$file: $!"; print $f $text; close($f) }

# Exit code and what was printed on both.
sub run
{
	my @cmd = @_;
	my $pid = open(my $out, '-|') // die;

	if (!$pid) {
		open(STDERR, '>&', \*STDOUT);
		exec @cmd or die;
	}
	my $text = do { local $/; <$out> } // '';
	close($out);
	return ($? >> 8, $text);
}

# ---- each built-in header, beside itself ---------------------------------------------------------

# Of every kind its records, in the order of time: CPU, fields, and when it was.
sub records
{
	my ($file) = @_;
	my %kinds;

	open(my $in, '-|', $schedtap, 'dump', '--json', '-i', $file) or die;
	while (<$in>) { # decode_json() takes ten times as long
		push @{$kinds{$3}{$4}}, [ $2, $5, $1 ] if /"ts_ns":(\d+),.*"cpu":(\d+),.*"event":"(\w+):(\w+)","fields":(\{.*\})\}$/;
	}
	close($in);
	return \%kinds;
}

sub format_of
{
	my ($define, $event) = @_;
	my ($rc, $text) = run($schedtap, 'list', '-v', @$define, $event);

	$text =~ s/^.*\n//; # the line of the event itself
	$text =~ s/^\s*ID: .*\n//m;
	return $text;
}

my $apart_ns = 100_000; # of the stamps of one event, as an interrupt may come between the two programs

# Those that differ: a record of ours is to have one of the built-in's with the same values, stamped at the same moment, in the same order
# on its CPU. Both programs are switched on one after the other, and off again: what is of one alone then does not count.
sub compare
{
	my ($mine, $built_in) = @_;
	my ($same, $other) = (0, 0);
	my ($first, $last) = @$built_in ? map { $_->[2] } @$built_in[0, -1] : (0, ~0);
	my %queues;

	push(@{$queues{$_->[0]}}, $_) for @$built_in;
	for my $r (@$mine) {
		my ($cpu, $fields, $ts_ns) = @$r;
		my $queue = $queues{$cpu} // [];

		next if $ts_ns < $first || $ts_ns > $last;
		shift(@$queue) while @$queue && $queue->[0][2] < $ts_ns - $apart_ns;
		my $at = 0;
		$at++ while $at < @$queue && $queue->[$at][2] <= $ts_ns + $apart_ns && $queue->[$at][1] ne $fields;
		if ($at == @$queue || $queue->[$at][2] > $ts_ns + $apart_ns) {
			$other++;
			next;
		}
		splice(@$queue, 0, $at + 1);
		$same++;
	}
	return ($same, $other);
}

my $load = 'i=0; while [ $i -lt 40 ]; do (sleep 0.002; : ) | cat & i=$((i + 1)); done; wait';
my %refused = ( # what the object alone can do
	pick => qr/only the built-in sched_pick has this array/, # a loop over the groups
	throttle => qr/'tp_throttles\(\)' is a function of the kernel, which a BPF program cannot call/, # keeps who is throttled
);
my $all = 0;
for my $header (sort glob("$top/events/*.h")) {
	my $name = basename($header, '.h');
	my ($rc, $text, $own);

	($own = slurp($header)) =~ s/define TRACE_SYSTEM \w+/define TRACE_SYSTEM mine/;
	next unless $own =~ /TRACE_HOOK/; # what the recorder writes itself, and the list of them all
	next if $own =~ /TRACE_FORM_OF/; # only built-in events have short forms
	spew("$name.h", $own);
	($rc, $text) = run($schedtap, 'record', '-b', 'bpf', '-o', "$name.dat", '--define', "$name.h", '-e', 'mine', '-e', $name, '--', 'sh',
		'-c', $load);
	if ($text =~ /none of the selected events can be recorded over BPF on this machine: (.*)/) {
	SKIP: { skip("$name.h: $1", 1) }
		next;
	}
	if (my $reason = $refused{$name}) {
		like($text, $reason, "$name.h: refused with the reason");
		next;
	}
	is($rc, 0, "$name.h: it can be recorded") or diag($text);
	if ($text =~ / ([1-9]\d*) lost/) {
	SKIP: { skip("machine was busy: $1 events of $name.h were lost", 1) }
		next;
	}
	my $kinds = records("$name.dat");
	my $mine = $kinds->{mine} // {};
	for my $event (sort keys %$mine) {
		my ($found) = grep { $_ ne 'mine' && $kinds->{$_}{$event} } keys %$kinds;
		my ($same, $other) = compare($mine->{$event}, $found ? $kinds->{$found}{$event} : []);
		$all += $same;
		# a value that another CPU changes may have changed between two programs
		ok($other <= 0.01 * ($same + $other) + 1, "$name.h: $event: the records that the built-in one has")
			or diag("$same are the same, $other are not");
		is(format_of(['--define', "$name.h"], "mine:$event"), format_of([], "$found:$event"), "$name.h: $event: its format text") if $found;
	}
}
cmp_ok($all, '>', 2000, 'records were compared') or diag($all);

# ---- in one line ---------------------------------------------------------------------------------

my ($rc, $text) = run($schedtap, 'record', '-o', 'line.dat', '-e', 'sched_switch{prev->pid, next_pid=next->pid, next->comm, prev_state} if next_pid > 0',
	'-e', 'sched_switch', '--', 'sh', '-c', $load);
is($rc, 0, 'a definition in one line') or diag($text);
my $kinds = records('line.dat');
my @own = map { decode_json($_->[1]) } @{$kinds->{own}{sched_switch} // []};
my @theirs = map { decode_json($_->[1]) } @{$kinds->{sched}{sched_switch} // []};
cmp_ok(scalar @own, '>', 100, 'it records');
is(scalar(grep { $_->{next_pid} <= 0 } @own), 0, 'its filter holds');
my %pairs;
$pairs{"$_->{prev_pid} $_->{next_pid} $_->{next_comm}"}++ for @theirs;
my @unknown = grep { !$pairs{"$_->{pid} $_->{next_pid} $_->{comm}"} } @own;
cmp_ok(scalar @unknown, '<=', 1, 'its fields are those of the built-in event') or diag(encode_json($unknown[0]));

($rc, $text) = run($schedtap, 'record', '-o', 'se.dat', '-e', 'pelt_se_tp{pid, comm, util=se->avg.util_avg, on=se->on_rq}', '-e', 'sched_pelt_se', '--',
	'sh', '-c', $load);
is($rc, 0, 'pid and comm of a sched_entity') or diag($text);
$kinds = records('se.dat');
%pairs = ();
$pairs{join(' ', @{decode_json($_->[1])}{qw(pid comm util)})}++ for @{$kinds->{schedtap}{sched_pelt_se} // []};
@unknown = grep { !$pairs{join(' ', @{decode_json($_->[1])}{qw(pid comm util)})} } @{$kinds->{own}{pelt_se_tp} // []};
cmp_ok(scalar @{$kinds->{own}{pelt_se_tp} // []}, '>', 100, 'they are recorded');
cmp_ok(scalar @unknown, '<=', 1, 'and are those of its task') or diag($unknown[0][1]);

my $meta = slurp('se.dat');
like($meta, qr/"definitions".*TRACE_EVENT\(pelt_se_tp/s, 'the recording has the definition');
SKIP: {
	skip('no trace-cmd', 1) if system('command -v trace-cmd >/dev/null');
	like(`trace-cmd report -i se.dat 2>/dev/null`, qr/pelt_se_tp: +pid=-?\d+ comm=\S* util=\d+ on=\d+/, 'trace-cmd prints it');
}

# an event that is called like the tracepoint is another one, with a filter of its own
($rc, $text) = run($schedtap, 'record', '-o', 'two.dat', '-e', 'sched_switch', '-f', 'prev_pid == 0', '-e', 'sched_switch{prev->pid} if pid > 0', '--', 'sh',
	'-c', $load);
is($rc, 0, 'two filters') or diag($text);
$kinds = records('two.dat');
is(scalar(grep { decode_json($_->[1])->{prev_pid} } @{$kinds->{sched}{sched_switch} // []}), 0, 'one for the event');
is(scalar(grep { decode_json($_->[1])->{pid} <= 0 } @{$kinds->{own}{sched_switch} // []}), 0, 'the other for the definition');
cmp_ok(scalar @{$kinds->{own}{sched_switch} // []}, '>', 100, 'which is recorded');

# ---- only some tasks -----------------------------------------------------------------------------

spew('mine.h', <<'H');
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mine
TRACE_EVENT(depth,
	TP_PROTO(struct rq *rq, int change),
	TP_ARGS(rq, change),
	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(u32, depth)
		__field(u32, doubled)
		__field(u16, kind)
		__field(u64, switches)
		__array(u32, both, 2)
	),
	TP_fast_assign(
		unsigned int nr = rq->nr_running, more = nr;

		more += nr;
		__entry->cpu = rq->cpu;
		__entry->depth = nr;
		__entry->doubled = more;
		__entry->switches = rq->nr_switches;
		if (change > 0) {
			__entry->kind = 1;
			if (rq->nr_switches & 1)
				__entry->kind |= 2;
		} else {
			__entry->kind = 4;
		}
		__entry->both[0] = nr;
		__entry->both[1] = nr * 3 - 1;
	),
	TP_printk("cpu=%d depth=%u doubled=%u kind=%u", __entry->cpu, __entry->depth, __entry->doubled, __entry->kind)
);
TRACE_HOOK(depth, sched_update_nr_running_tp, TP_PROTO(struct rq *rq, int change), TP_ARGS(rq, change));
H
($rc, $text) = run($schedtap, 'record', '-o', 'depth.dat', '--define', 'mine.h', '-e', 'mine', '--', 'sh', '-c',
	$load);
is($rc, 0, 'variables and if') or diag($text);
$kinds = records('depth.dat');
my ($wrong, %kind) = (0);
for my $r (@{$kinds->{mine}{depth} // []}) {
	my $f = decode_json($r->[1]);
	$kind{$f->{kind}}++;
	$wrong++ if $f->{doubled} != 2 * $f->{depth} || $f->{kind} != ($f->{kind} == 4 ? 4 : $f->{switches} & 1 ? 3 : 1) ||
		"@{$f->{both}}" ne join(' ', $f->{depth}, $f->{depth} * 3 - 1 & 0xffffffff);
}
is($wrong, 0, 'their values') or diag(encode_json(\%kind));
ok($kind{1} && $kind{3} && $kind{4}, 'each of the branches was taken') or diag(encode_json(\%kind));

($rc, $text) = run($schedtap, 'record', '-o', 'comm.dat', '-c', 'cat', '-e', 'sched_wakeup{p->comm, current_comm=tp_current()->comm}', '--', 'sh', '-c', $load);
is($rc, 0, '-c goes for own events, too') or diag($text);
my @comms = map { decode_json($_->[1]) } @{records('comm.dat')->{own}{sched_wakeup} // []};
cmp_ok(scalar @comms, '>', 10, 'some are recorded');
is(scalar(grep { $_->{comm} ne 'cat' && $_->{current_comm} ne 'cat' } @comms), 0, 'and no others');

# ---- as large as a record may be -----------------------------------------------------------------

sub large
{
	my ($text_pad, $fixed) = @_;

	spew('large.h', <<"H");
#define TRACE_SYSTEM large
TRACE_EVENT(texts, TP_PROTO(bool preempt, struct task_struct *prev), TP_ARGS(preempt, prev),
	TP_STRUCT__entry(__array(char, pad, $text_pad) __string(one, prev->comm) __string(two, prev->comm)),
	TP_fast_assign(__assign_str(one, prev->comm); __assign_str(two, prev->comm);),
	TP_printk("%s %s", __get_str(one), __get_str(two)));
TRACE_HOOK(texts, sched_switch, TP_PROTO(bool preempt, struct task_struct *prev), TP_ARGS(preempt, prev));
TRACE_EVENT(fixed, TP_PROTO(bool preempt, struct task_struct *prev), TP_ARGS(preempt, prev),
	TP_STRUCT__entry(__array(char, pad, $fixed) __array(char, last, 16)),
	TP_fast_assign(memcpy(__entry->last, prev->comm, TASK_COMM_LEN);), TP_printk("%s", __entry->last));
TRACE_HOOK(fixed, sched_switch, TP_PROTO(bool preempt, struct task_struct *prev), TP_ARGS(preempt, prev));
H
	return ('--define', 'large.h', '-e', 'large', '-b', 'bpf');
}

# the common fields take 8 bytes and the two text locations 8: the first text begins at byte 1004, and the second 16
# bytes later, at 1020
($rc, $text) = run($schedtap, 'record', '-o', 'large.dat', large(988, 3976), '--', 'sh', '-c', $load);
is($rc, 0, 'as large as it may be') or diag($text);
$kinds = records('large.dat');
my @texts = map { decode_json($_->[1]) } @{$kinds->{large}{texts} // []};
my %names = map { $_->{one} => 1 } @texts;
cmp_ok(scalar @texts, '>', 100, 'texts at the end are recorded');
is(scalar(grep { $_->{one} ne $_->{two} } @texts), 0, 'both are whole');
ok($names{cat} && $names{sh}, 'and are what they should be') or diag(join(' ', sort keys %names));
my %lasts = map { decode_json($_->[1])->{last} => 1 } @{$kinds->{large}{fixed} // []};
ok($lasts{cat} && $lasts{sh}, 'a field at the end of 4000 bytes') or diag(join(' ', sort keys %lasts));

# ---- what is wrong -------------------------------------------------------------------------------

sub refused
{
	my ($name, $want, @args) = @_;
	my ($rc, $text) = run($schedtap, 'record', '-o', 'no.dat', '-d', '0.1', @args);

	is($rc, 2, "$name: exit code");
	like($text, $want, $name);
	ok(!-e 'no.dat' && !-e 'no.dat.spool', "$name: nothing is left");
}

my $line = 'pelt_se_tp{util=se->avg.utl_avg}';
refused('a member that is not there', qr/this kernel has no 'utl_avg' in struct sched_avg: did you mean 'util_avg'\?\n +util=se->avg\.utl_avg\n {18}\^\n/,
	'-e', $line);
refused('a struct', qr/this is a struct: name one of its members: last_update_time/, '-e', 'pelt_se_tp{se->avg}');
refused('a function of the kernel', qr/'cpu_of\(\)' is a function of the kernel/, '-e', 'pelt_se_tp{a=cpu_of(se)}');
refused('an index that varies', qr/the index must be a constant/, '-e', 'sched_switch{a=prev->comm[prev->prio]}');
refused('a field without a name', qr/a field needs a name: NAME=EXPRESSION/, '-e', 'pelt_se_tp{se->vruntime + 1}');
refused('two fields of one name', qr/duplicate field name: choose another one with NAME=EXPRESSION\n {5}prev->pid, next->pid\n {16}\^\n/, '-e', 'sched_switch{prev->pid, next->pid}');
refused('a brace that is not closed', qr/the '\}' is missing/, '-e', 'pelt_se_tp{pid');
($rc, $text) = run($schedtap, 'record', '-o', 'no.dat', '-d', '0.1', '-e', 'pelt_x_tp{a=1}');
is($rc, 1, 'no such tracepoint: exit code');
like($text, qr/the kernel's BTF has no tracepoint 'pelt_x_tp'/, 'no such tracepoint');
refused('a text beyond the last place for it', qr/large\.h:2: the event's record is too large: text 'two' may begin at byte 1024, but text must begin at or before byte 1023\n/,
	large(992, 3976));
refused('more than a record has', qr/large\.h:\d+: with 'last' a record takes 4001 bytes: the limit is 4000/, large(8, 3977));
refused('a filter that is wrong', qr/Field not found/, '-e', 'pelt_se_tp{pid} if pidd > 1');

my %bad = (
	'a name that is not defined' => [ 's/__entry->depth = nr;/__entry->depth = nrr;/', qr/mine2\.h:19: 'nrr' is neither a variable nor an argument of the tracepoint, which has rq, change\n/ ],
	'a loop' => [ 's/if \(change > 0\)/while (change)/', qr/mine2\.h:22: .*not 'while'/ ],
	'a field that is not there' => [ 's/__entry->kind = 4;/__entry->kin = 4;/', qr/'kin'.*did you mean 'kind'/ ],
	'no semicolon' => [ 's/__entry->cpu = rq->cpu;/__entry->cpu = rq->cpu/', qr/a ';' is missing before this/ ],
	'an index beyond the array' => [ 's/both\[1\]/both[2]/', qr/the index must be a constant below 2/ ],
);
for my $name (sort keys %bad) {
	my ($change, $want) = @{$bad{$name}};
	my $header = slurp('mine.h');

	eval "\$header =~ $change; 1" or die $@;
	spew('mine2.h', $header);
	refused($name, $want, '--define', 'mine2.h', '-e', 'mine');
	my ($rc, $text) = run($schedtap, 'list', '--define', 'mine2.h');
	is($rc, 2, "$name: list says so, too");
	like($text, $want, "$name: in the same words");
}

($rc, $text) = run($schedtap, 'list', '-v', 'bare:pelt_se_tp');
like($text, qr/^bare +bare:pelt_se_tp\(struct sched_entity \*se\)$/m, 'a bare tracepoint with the types of its arguments');
like($text, qr/^ +se->avg\.util_avg +\S/m, 'and what can be named there');
($rc, $text) = run($schedtap, 'list', 'bare:sched_switch');
is($rc, 1, 'a tracepoint with an event is not bare');

done_testing();
