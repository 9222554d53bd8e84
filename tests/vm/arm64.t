#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The module, built for arm64 on this machine, on one with CPUs of two sizes: qemu's, with a device
# tree of ours. There energy-aware placement is at work, and CPUs come and go. For 6.12 it is built in
# each of the ways there are.
#
# And what a recording says of a CPU that comes and goes, where no event of it does.
#
# KERNELS: as for guests.t, those that begin with arm64-
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use Test::More;
use lib dirname(__FILE__);
use VM;

my $here = dirname(__FILE__);
my $top = tempdir(CLEANUP => !$ENV{KEEP});
my @kernels = grep { /^arm64-/ } split(' ', $ENV{KERNELS} // 'arm64-6.12');
my $program = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my $quiet_s = 120; # the guest is never silent as long
my @machine = ('-cpu', 'cortex-a57', '-smp', 4, '-m', 512, '-nic', 'none', '-display', 'none');

# What a CPU is: its size, and what its frequencies (Hz) take (uV).
my @kinds = (
	{ dmips => 512, power => 100, opps => [[300e6, 600_000], [600e6, 700_000], [1e9, 900_000]] },
	{ dmips => 1024, power => 400, opps => [[500e6, 650_000], [1.2e9, 800_000], [2e9, 1_000_000]] },
);

# An event of these kernels that does not happen.
my %silent = (
	sched_dl_throttle => 'no deadline task wants more than it has',
);

sub missing {
	for (qw(qemu-system-aarch64 aarch64-linux-gnu-gcc-12 aarch64-linux-gnu-objcopy clang ld.lld llvm-nm dtc busybox
		make xz trace-cmd)) {
		return "no $_ on this machine" if !which($_);
	}
	return "'$program' is not built" if !-x $program;
	return;
}

sub kind_nodes {
	my ($i) = @_;
	my $kind = $kinds[$i];
	my $opps = join('', map { sprintf("\t\topp-%d { opp-hz = /bits/ 64 <%d>; opp-microvolt = <%d>; " .
		"clock-latency-ns = <100000>; };\n", $_->[0], @$_) } @{$kind->{opps}});

	return "\tkind_clock$i: kind-clock$i { compatible = \"fixed-clock\"; #clock-cells = <0>; " .
		"clock-frequency = <$kind->{opps}[-1][0]>; };\n" .
		"\tkind_opps$i: opp-table-$i {\n\t\tcompatible = \"operating-points-v2\";\n" .
		"\t\topp-shared;\n$opps\t};\n";
}

# qemu's own tree: CPUs 0 and 1 are small, 2 and 3 are big, each pair a cluster.
sub make_tree {
	my ($dir) = @_;
	my (@handles, $dts);

	system("qemu-system-aarch64 -M virt,dumpdtb=$dir/qemu.dtb @machine 2>/dev/null") == 0 or die 'no tree';
	system("dtc -q -I dtb -O dts -o $dir/qemu.dts $dir/qemu.dtb 2>/dev/null") == 0 or die 'dtc';
	$dts = slurp("$dir/qemu.dts");
	$dts =~ s{(\tcpu\@(\d) \{\n)(.*?\n\t\t\};)}{
		my ($head, $cpu, $body) = ($1, $2, $3);
		my $kind = $cpu < 2 ? 0 : 1;
		($handles[$cpu]) = $body =~ /phandle = <(\w+)>/;
		"$head\t\t\tcapacity-dmips-mhz = <$kinds[$kind]{dmips}>;\n" .
			"\t\t\tdynamic-power-coefficient = <$kinds[$kind]{power}>;\n" .
			"\t\t\tclocks = <&kind_clock$kind>;\n\t\t\toperating-points-v2 = <&kind_opps$kind>;\n$body"
	}gse;
	my $clusters = join(' ', map { my $c = $_; "cluster$c { " .
		join(' ', map { "core$_ { cpu = <$handles[2 * $c + $_]>; };" } 0, 1) . ' };' } 0, 1);
	$dts =~ s/cluster0 \{.*?\n\t{4}\};/$clusters/s;
	$dts =~ s/\};\s*\z/kind_nodes(0) . kind_nodes(1) . "};\n"/e;
	open(my $f, '>', "$dir/eas.dts") or die;
	print $f $dts;
	close($f);
	system("dtc -q -I dts -O dtb -o $dir/eas.dtb $dir/eas.dts") == 0 or die 'dtc';
}

sub make_initramfs {
	my ($dir, $vmlinuz, @modules) = @_;
	my $cache = dirname($vmlinuz);

	make_path(map { "$dir/root/$_" } qw(bin proc sys dev tmp));
	copy("$cache/busybox-arm64", "$dir/root/bin/busybox") or die "busybox: $!";
	copy($vmlinuz =~ s/vmlinuz$/cpufreq-dt.ko/r, "$dir/root/cpufreq-dt.ko") or die "cpufreq-dt.ko: $!";
	copy("$dir/$_/schedtap.ko", "$dir/root/$_.ko") or die "$_: $!" for @modules;
	copy("$here/init-arm64", "$dir/root/init") or die;
	chmod(0755, "$dir/root/init", "$dir/root/bin/busybox");
	pack_initramfs("$dir/root", "$dir/initrd");
}

sub boot {
	my ($dir, $vmlinuz) = @_;
	my @qemu = ('qemu-system-aarch64', '-M', 'virt', @machine, '-no-reboot',
		'-serial', "file:$dir/out", '-dtb', "$dir/eas.dtb", '-kernel', $vmlinuz, '-initrd', "$dir/initrd",
		'-append', 'console=ttyAMA0 quiet panic=-1 oops=panic cpufreq.default_governor=schedutil');

	is(run_guest($quiet_s, "$dir/out", @qemu), '', 'the guest comes to its end') or diag(substr(slurp("$dir/out"), -800));
	return steps_of(slurp("$dir/out"));
}

sub check {
	my ($name, $build, $steps) = @_;
	my %step = map { $_ => $steps->{"${build}_$_"} // {} } qw(load record unload log);
	my %why = ($step{log}{text} // '') =~ /schedtap: no event (\w+): (.*)/g;
	my $trace = $step{record}{text} // '';
	my @capacity = split(/\n/, $steps->{capacities}{text} // '');
	my (%count, %orig);

	for my $step (qw(load record unload)) {
		is($step{$step}{rc} // 'none', 0, "$step: exit code")
			or diag(substr($step{$step}{text} // 'the guest did not get there', -800));
	}
	$count{$1}++ while $trace =~ /^ .*?: (\w+): /mg;
	for my $event (module_events()) {
		my $verdict = verdict($why{$event}, $count{$event}, $silent{$event});

		isnt($verdict, 'FAILED', "module: $event");
		note("verdict $name|$event|$verdict") if $build eq 'gcc';
	}
	$orig{$1}{$2} = 1 while $trace =~ /sched_cpu_capacity: cpu=(\d) capacity=\d+ capacity_orig=(\d+)/g;
	is_deeply({ map { $_ => [keys %{$orig{$_}}] } keys %orig }, { map { $_ => [$capacity[$_]] } keys %orig },
		'capacity_orig is what /sys says');
	cmp_ok(scalar(keys %orig), '>', 1, 'of several CPUs');
	my %curr;
	$curr{$2 <=> $1}++ while $trace =~ /capacity_orig=(\d+) capacity_curr=(\d+)/g;
	ok($curr{-1} && $curr{0} && !$curr{1}, 'capacity_curr is at times below that, never above');
	like($trace, qr/sched_overutilized: overutilized=1 span=0x\S*f$/m, 'overutilised, on all CPUs of the domain');
	like($trace, qr/sched_overutilized: overutilized=0 /, 'and no more');
	unlike($trace, qr/\benqueued=\d{6,}/, 'no flag is left in enqueued');
	my @energy = $trace =~ /sched_compute_energy: .*? dst_cpu=-?\d+ energy=\d+ max_util=(\d+) /g;
	is(scalar(grep { $_ > 1024 } @energy), 0, 'max_util is within 0..1024');
	unlike($step{log}{text} // '', qr/BUG|WARNING|Oops|bad taint/, 'the kernel has no complaint');
	return \%why;
}

sub build {
	my ($dir, $name, $args) = @_;
	my $with = $name =~ /clang/ ? '--llvm' : '--cross-compile aarch64-linux-gnu-';
	my $said = `'$program' module build --source $here/../.. --output $dir/$name $args $with 2>&1`;

	is($?, 0, "the module is built: $name") or BAIL_OUT($said);
}

# From headers alone, and types in a file of their own, as a machine without this package has them.
# Return: those that must load.
sub build_in_other_ways {
	my ($dir, $headers) = @_;
	my $symvers = "--btf $dir/btf --symvers $headers/Module.symvers";
	my $unpacked = "$dir/kheaders_gcc/kheaders";

	system("$here/kheaders $headers arm64 $dir/kheaders.tar.xz") == 0 or die 'kheaders';
	system("aarch64-linux-gnu-objcopy --dump-section .BTF=$dir/btf $headers/vmlinux /dev/null") == 0 or die 'BTF';
	build($dir, 'clang', "--kernel-src $headers --arch arm64");
	build($dir, 'kheaders_gcc', "--kernel-src $dir/kheaders.tar.xz $symvers");
	build($dir, 'kheaders_clang', "--kernel-src $unpacked $symvers");
	build($dir, 'no_symvers', "--kernel-src $unpacked --btf $dir/btf");
	system("sed -i 's/6[0-9.]*/&-other/' $unpacked/include/generated/utsrelease.h") == 0 or die 'sed';
	build($dir, 'other_release', "--kernel-src $unpacked $symvers");
	return qw(clang kheaders_gcc kheaders_clang);
}

my %refused = (
	other_release => qr/schedtap: built for kernel \S+-other\S*, this is /,
	no_symvers => qr/schedtap: no symbol version for /,
);

sub check_refused {
	my ($build, $steps) = @_;

	isnt($steps->{"${build}_load"}{rc} // 0, 0, "$build: refused");
	like($steps->{"${build}_log"}{text} // '', $refused{$build}, 'and the log says why');
	is($steps->{"${build}_left"}{text} // '', "none\n", 'nothing is left of it');
}

# Of the guest's tracefs, packed, and its CPUs' pages. Return: the recording.
sub restore {
	my ($dir, $tar) = @_;

	make_path("$dir/tracefs");
	open(my $f, '|-', "tar -x -C $dir/tracefs") or die "tar: $!";
	print $f $tar;
	close($f) or return;
	system("trace-cmd restore -c -t $dir/tracefs -k /dev/null -o $dir/head.dat >/dev/null && " .
		"trace-cmd restore -i $dir/head.dat -o $dir/trace.dat $dir/tracefs/cpu[0-3] >/dev/null 2>&1") == 0 or return;
	return "$dir/trace.dat";
}

sub json_of { return decode_json(`'$program' $_[0] --json`) }

# The intervals in which a CPU was offline: [CPU, from, to]; to 0: for good.
sub offline_of {
	my ($dat) = @_;
	my (%since, @offline);

	for (@{json_of("map -i $dat")->{changes}}) {
		my $from = delete($since{$_->{cpu}});

		push(@offline, [$_->{cpu}, $from, $_->{time_ns}]) if $from;
		$since{$_->{cpu}} = $_->{time_ns} if $_->{what} eq 'offline';
	}
	return (@offline, map { [$_, $since{$_}, 0] } keys %since);
}

sub check_hotplug {
	my ($dat) = @_;
	my %at = reverse(`'$program' dump -i $dat -e print | tr -d .` =~ / (\d+): ftrace:print: .*: (\w+)/g);
	my @offline = offline_of($dat);
	my (undef, $from, $to) = @{$offline[0] // [-1, 0, 0]};
	my $waits = json_of("latency -i $dat")->{all};
	my $violations = json_of("balance -i $dat --worst 1000000")->{violations}{worst};
	my @meanwhile = grep { $_->{from_ns} > $at{after_0} && $_->{from_ns} < $at{before_1} } @$violations;

	is(system("'$program' summary --check -i $dat >/dev/null"), 0, 'summary --check');
	is_deeply([map { [@$_{qw(cpu breaks lost)}] } @{json_of("summary -i $dat")->{cpus}}],
		[map { [$_, 0, 0] } 0 .. 3], 'nothing is missing');
	is_deeply([map { $_->[0] } @offline], [3], 'one CPU is offline, once');
	ok($from > $at{before_0} && $from < $at{after_0}, 'from when it was taken offline');
	ok($to > $at{before_1} && $to < $at{after_1}, 'until when it was brought online');
	cmp_ok($waits->{count}, '>', 500, 'waits');
	cmp_ok($waits->{censored}, '<', $waits->{count} / 20, 'nearly all have a length');
	is(scalar(grep { grep { $_ == 3 } @{$_->{idle_cpus}} } @meanwhile), 0, 'meanwhile no violation names it as an idle CPU');
	note("offline for ", ($to - $from) / 1e6, " ms, of $waits->{count} waits $waits->{censored} have no length, ",
		scalar(@meanwhile), " violations meanwhile");
}

sub check_kernel {
	my ($name, $vmlinuz, $headers) = @_;
	my $dir = "$top/$name";
	my @builds = ('gcc');
	my %absent;

	make_path($dir);
	build($dir, 'gcc', "--kernel-src $headers --btf $vmlinuz --arch arm64");
	push(@builds, build_in_other_ways($dir, $headers)) if $name eq 'arm64-6.12';
	make_tree($dir);
	make_initramfs($dir, $vmlinuz, @builds, $name eq 'arm64-6.12' ? keys(%refused) : ());
	my $steps = boot($dir, $vmlinuz);
	is_deeply([sort { $a <=> $b } split(/\n/, $steps->{capacities}{text} // '')], [256, 256, 1024, 1024],
		'the CPUs are of two sizes');
	for my $build (@builds) {
		subtest $build => sub { $absent{$build} = check($name, $build, $steps) };
		is_deeply($absent{$build}, $absent{gcc}, "$build: the same events are absent");
	}
	is((split(/\n/, $steps->{cycles}{text} // ''))[-1], 20, 'unloaded while enabled and read, and CPUs come and go, again and again');
	cmp_ok(() = ($steps->{gone}{text} // '') =~ /CPU3/gi, '>', 1, 'a CPU went and came');
	unlike($steps->{gone}{text} // '', qr/BUG|WARNING|Oops/, 'without a complaint of the kernel');
	is($steps->{hotplug}{rc} // 'none', 0, 'recorded while a CPU goes and comes');
	my $dat = restore($dir, $steps->{hotplug}{text} // '');
	ok($dat, 'trace-cmd makes a recording of it') and subtest hotplug => sub { check_hotplug($dat) };
	if ($name eq 'arm64-6.12') {
		check_refused($_, $steps) for sort keys %refused;
	}
}

my $why = missing();
plan(skip_all => $why) if $why;
plan(skip_all => 'none of these kernels was asked for') if !@kernels;

for my $kernel (@kernels) {
	my (undef, $vmlinuz, undef, $version, $headers) = split(' ', `$here/fetch $kernel 2>$top/fetch.err`);

	SKIP: {
		skip("$kernel: " . slurp("$top/fetch.err"), 1) if !$vmlinuz;
		skip("$kernel: Debian has no headers of it any more", 1) if $headers eq '-';
		subtest "$kernel ($version)" => sub { check_kernel($kernel, $vmlinuz, $headers) };
	}
}
done_testing();
