#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The kernel's own sample of events compiles unchanged in a program, and records: each event as often
# as the sample fires it, and what the program prints of a record is what the decoder prints of it.
# The sample comes out of Debian's linux-source-*: unpacked once, that one file alone.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $build = $ENV{BUILD} ? abs_path($ENV{BUILD}) : "$top/build";
my $cache = $ENV{SCHEDTAP_VM_CACHE} // ($ENV{XDG_CACHE_HOME} // "$ENV{HOME}/.cache") . '/schedtap-vm';
my $sample = 'samples/trace_events/trace-events-sample.h';
my $times = 41; # sample_main.c's loop
my %times = (foo_bar_with_cond => 5, foo_with_template_cond => 6); # the multiples of 10, and of 8
my $libs = '-lpthread'; # of the tracepoints
my $dir = tempdir(CLEANUP => 1);

# The folder that the header is in, or undef.
sub unpacked {
	my ($archive) = @_;
	my ($name) = $archive =~ m{(linux-source-[\d.]+)\.tar\.xz$};
	my $to = "$cache/$name";

	return "$to/" . dirname($sample) if -s "$to/$sample";
	make_path($to);
	system("tar -xJf $archive -C $to --strip-components=1 --occurrence=1 $name/$sample 2>&1") == 0 or return;
	return "$to/" . dirname($sample);
}

# The CPUs of a bitmask, as a list.
sub list_of {
	my ($mask) = @_;
	my $bits = reverse(unpack('B*', pack('H*', $mask =~ s/,//gr)));
	my @list;

	push(@list, $+[0] - $-[0] > 1 ? "$-[0]-" . ($+[0] - 1) : $-[0]) while $bits =~ /1+/g;
	return join(',', @list);
}

# The decoder prints a cpumask as trace-cmd does, as a list; the kernel, and so the program, as a mask.
sub as_decoded {
	my ($event, $text) = @_;

	$text =~ s/([0-9a-f,]+)$/list_of($1)/e if $event eq 'foo_rel_loc';
	$text =~ s/\(([0-9a-f,]+)\) iter/'(' . list_of($1) . ') iter'/e if $event eq 'foo_bar';
	return $text;
}

sub check {
	my ($what, $said) = @_;
	my (%program, %decoder);

	while ($said =~ /^sample-trace:(\w+)\n program (.*)\n decoder (.*)\n/mg) {
		push(@{$program{$1}}, as_decoded($1, $2));
		push(@{$decoder{$1}}, $3);
	}
	my @events = $said =~ /^event sample-trace:(\w+)$/mg;
	is(scalar(@events), 8, "$what: the sample's events are there");
	for my $event (sort(@events)) {
		is(scalar(@{$program{$event} // []}), $times{$event} // $times, "$what: $event is recorded");
		is_deeply($decoder{$event}, $program{$event}, "$what: $event is decoded as the program prints it");
	}
	# as many words of the mask as there are CPUs
	my ($list, $mask) = (qr/\{0x1,0x2,0x3\}/, qr/\([0,]*00000001\)/);
	like(($program{foo_bar} // [])->[8] // '',
		qr/^foo hello 8 EIGHT BIT4 $list $list Mother Goose hell $mask \(0\) iter=8 \[\d+\] 0$/,
		"$what: foo_bar is printed as the kernel prints it, but for the list of CPUs");
	like($said, qr/^registered 2$/m, "$what: regfunc is called for each event that has one");
}

# The kernel's name of the system has a hyphen: a recorder takes it as it is. The sample fires 11 times before it switches its events on.
sub recorded {
	my ($what) = @_;
	my %earlier = (foo_bar_with_cond => 2, foo_with_template_cond => 2);
	local @ENV{qw(TAP_TRACE TAP_TRACE_FILE TAP_TRACE_RECORDER)} = ('sample-trace:*', "$dir/r.dat", "$build/schedtap");
	my $start = time;
	my ($said, %nr) = (scalar(`$dir/sample 2>&1 >/dev/null`));

	is($said, '', "$what: a recorder takes the sample's events");
	cmp_ok(time - $start, '<', 10, "$what: the sample does not wait for it");
	$nr{$_}++ for `$build/schedtap dump -i $dir/r.dat` =~ / sample-trace:(\w+):/mg;
	is_deeply(\%nr, { map { $_ => ($times{$_} // $times) + ($earlier{$_} // 11) } keys(%nr) }, "$what: each event is in the recording");
	is(scalar(keys(%nr)), 8, "$what: and each kind");
}

# Another system's name, which the kernel would refuse: the program says so, and does not wait for a recorder that cannot record.
sub refused {
	my ($folder, $cc) = @_;
	my $start = time;

	local @ENV{qw(TAP_TRACE TAP_TRACE_FILE TAP_TRACE_RECORDER)} = ('foo*', "$dir/none.dat", "$build/schedtap");
	mkdir("$dir/other");
	system("sed '/define TRACE_SYSTEM /s/sample-trace/sample:trace/' $folder/trace-events-sample.h >$dir/other/trace-events-sample.h");
	is(compile("$dir/other", $cc), '', "$cc compiles another name");
	like(scalar(`$dir/sample 2>&1 >/dev/null`), qr/schedtap: TAP_TRACE: none of the events can be recorded/, "$cc: the program says it");
	cmp_ok(time - $start, '<', 10, "$cc: and does not wait");
}

# What the compiler says.
sub compile {
	my ($folder, $cc) = @_;

	# the sample compares an int with a size_t
	return scalar(`cd $top/tests/tracepoint && $cc -O2 -Wall -Wextra -Wno-sign-compare -Werror -D_GNU_SOURCE \\
		-I$top/include/schedtap/kernel -I$top/include -I$top/src -I. -I$folder sample_main.c -o $dir/sample \\
		$build/libschedtap-tracepoint.a $build/libschedtap.a $libs 2>&1`);
}

my @archives = glob('/usr/src/linux-source-*.tar.xz');
plan(skip_all => "no kernel source on this machine (package linux-source-6.1)") if !@archives;

$ENV{XDG_RUNTIME_DIR} = $dir;
for my $archive (@archives) {
	my $folder = unpacked($archive);

	ok($folder, "$archive has the sample") or next;
	for my $cc (qw(gcc clang)) {
		SKIP: {
			skip("no $cc on this machine", 1) if system("command -v $cc >/dev/null");
			my $said = compile($folder, $cc);
			is($said, '', "$cc compiles it") or next;
			check($cc, scalar(`$dir/sample`));
			recorded($cc);
			refused($folder, $cc);
		}
	}
}
done_testing();
