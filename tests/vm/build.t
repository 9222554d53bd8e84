#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The kernel module is built in every supported way, for kernels other than the running one. A missing or wrong
# requirement is reported in one sentence, and no module is left to load. SOAK=1: also the ways all of whose steps are part
# of other ways.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__);
use VM;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $program = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $dir = tempdir(CLEANUP => 1);
my $ko = "$dir/out/schedtap.ko";

sub run { my $said = `cd $dir && { $_[0]; } 2>&1`; return ($? >> 8, $said) }

for (qw(make gcc apt-get dpkg-deb)) {
	plan(skip_all => "no $_ on this machine") if !which($_);
}
plan(skip_all => 'the kernels are x86-64 ones') if `uname -m` ne "x86_64\n";

my %vmlinuz;
my %headers;
for my $kernel (qw(6.1 6.12 arm64-6.12)) {
	(undef, $vmlinuz{$kernel}, undef, undef, $headers{$kernel}) = split(' ', `$top/tests/vm/fetch $kernel 2>$dir/err`);
	plan(skip_all => "no headers of $kernel: " . slurp("$dir/err")) if ($headers{$kernel} // '-') eq '-';
}

my $build = "$program module build --source $top --output out";
my $old = "--kernel-src $headers{'6.1'} --btf $vmlinuz{'6.1'}";
my $new = "--kernel-src $headers{'6.12'}"; # has types
my $alone = '--kernel-src alone --btf btf'; # headers alone, of arm64
my $cross = '--cross-compile aarch64-linux-gnu-';
my $cross_tools = 'aarch64-linux-gnu-gcc-12 aarch64-linux-gnu-objcopy';

# A PATH with all programs but @without.
sub path_without {
	my %without = map { $_ => 1 } @_;
	my $bin = tempdir(DIR => $dir);

	for my $program (reverse map { glob("$_/*") } split(/:/, $ENV{PATH})) {
		my $name = $program =~ s{.*/}{}r;

		next if $without{$name} || -d $program;
		unlink("$bin/$name");
		symlink($program, "$bin/$name");
	}
	return "PATH=$bin";
}

sub builds {
	my ($what, $args, $needs, $words) = @_;

	SKIP: {
		for (split(' ', $needs // '')) {
			skip("$what: no $_ on this machine", 1) if !which($_);
		}
		my ($rc, $said) = run(($words // '') . " $build $args");

		ok(!$rc && -s $ko, "builds: $what") or diag($said);
	}
}

# Exactly one line, which says so.
sub refuses {
	my ($what, $args, $says, $words) = @_;
	my ($rc, $said) = run("touch $ko; " . ($words // '') . " $build $args");

	ok($rc && $said =~ /\Aschedtap: [^\n]*$says[^\n]*\n\z/ && !-e $ko, "refused: $what") or diag("rc $rc: $said");
}

# What of headers alone is looked at first.
sub put_config {
	my ($folder, $on) = @_;

	make_path("$dir/$folder/include/generated");
	run(qq(cd $folder/include/generated && echo '#define UTS_RELEASE "6.12"' >utsrelease.h && echo '#define $on 1' >autoconf.h));
}

system("$top/tests/vm/kheaders $headers{'arm64-6.12'} arm64 $dir/kheaders.tar.xz && mkdir $dir/alone && " .
	"tar -xf $dir/kheaders.tar.xz -C $dir/alone") == 0 or BAIL_OUT('kheaders');
system("aarch64-linux-gnu-objcopy --dump-section .BTF=$dir/btf $headers{'arm64-6.12'}/vmlinux /dev/null")
	if which('aarch64-linux-gnu-objcopy');

# ---- each way ----

builds('headers, types of a vmlinuz', $old);
builds('headers with types', $new);
if ($ENV{SOAK}) {
	builds('for arm64', "--kernel-src $headers{'arm64-6.12'} --arch arm64 $cross", $cross_tools);
	builds('kheaders.tar.xz', "--kernel-src kheaders.tar.xz --btf btf $cross", $cross_tools);
	builds('for arm64, with clang', "--kernel-src $headers{'arm64-6.12'} --arch arm64 --llvm", 'clang ld.lld');
}
builds('headers alone, with clang', "$alone --llvm", "clang ld.lld llvm-nm $cross_tools");
if ($ENV{SOAK}) {
	my ($newer) = grep { -x "$_/clang" && -x "$_/ld.lld" } map { "/usr/lib/llvm-$_/bin" } reverse(15 .. 30);

	SKIP: {
		skip('no clang 15 or newer on this machine', 1) if !$newer;
		builds('with clang', "$old --llvm", '', "PATH=$newer:\$PATH");
	}
}
my ($rc, $said) = run("make -s --no-print-directory -C $top kmod KERNEL_SRC=$headers{'6.1'} VMLINUX=$vmlinuz{'6.1'}");
ok(!$rc && $said =~ m{^built build/kmod/schedtap.ko$}m, 'make kmod') or diag($said);
if ($ENV{SOAK}) {
	SKIP: {
		skip('no aarch64-linux-gnu-gcc-12 on this machine', 1) if !which('aarch64-linux-gnu-gcc-12');
		($rc, $said) = run("make -s --no-print-directory -C $top kmod KERNEL_SRC=$headers{'arm64-6.12'} " .
			"VMLINUX=$headers{'arm64-6.12'}/vmlinux ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-");
		ok(!$rc && $said =~ m{^built build/kmod/schedtap.ko$}m, 'make kmod for arm64') or diag($said);
	}
}

# a header of one's own, among the others
make_path("$dir/own");
system("cp -r $top/kmod $top/events $dir/own && cp $top/examples/own_events.h $dir/own/events && " .
	"echo '#include \"own_events.h\"' >>$dir/own/kmod/families.h") == 0 or die 'cannot copy the sources';
($rc, $said) = run("$program module build --source own --output out $old");
ok(!$rc && `readelf -sW $ko` =~ /trace_event_raw_event_task_demand/, 'builds: an own header') or diag($said);

# ---- what is missing or wrong ----

my ($code, $text) = run("$program module build --source $top $old");
ok($code == 2 && $text =~ /^schedtap: --kernel-src needs --output DIR, the folder to build in$/m, 'refused: another kernel, into the running one\'s folder')
	or diag("rc $code: $text");
refuses('no headers', '--kernel-src .', qr/'\S+' has no kernel headers/);
refuses('a folder that is not there', '--kernel-src nowhere', qr/cannot find 'nowhere'/);
refuses('no headers of this kernel', '', qr/install the package linux-headers-\S+, or/) if !-d "/lib/modules/" . `uname -r | tr -d '\n'` . '/build';
refuses('no types of the kernel', "--kernel-src $headers{'6.1'}", qr/the type information of kernel 6\.1\.\S+ is missing: .*--btf/);
refuses('a kernel without types', "--kernel-src $headers{'6.1'} --btf /bin/true", qr/has no kernel types, neither BTF nor DWARF/);
refuses('types of another kernel', "$new --btf $vmlinuz{'6.1'}", qr/static assertion failed: "struct \w+/);
refuses('no sources', "$old --source .", qr/the module's sources are not in '\.'/);
refuses('no make', $old, qr/make is missing: install the package make/, path_without('make'));
refuses('no compiler', $old, qr/no compiler was found: install the package gcc/, path_without(map { s{.*/}{}r } glob('/usr/bin/gcc*')));
refuses('no clang', "$old --llvm", qr/install the packages clang and lld/, path_without('clang'));
refuses('headers alone, no llvm-nm', "$alone --llvm", qr/install the package llvm\b/, path_without('llvm-nm'));
refuses('an archive of something else', "--kernel-src $program", qr/it is not an archive of kernel headers/);
refuses('kheaders.tar.xz, no xz', '--kernel-src kheaders.tar.xz', qr/install the package xz-utils/, path_without('xz'));
put_config('x86', 'CONFIG_X86');
refuses('headers of another architecture', "$new --arch arm64", qr/headers for x86, not for arm64: use --arch x86/);
refuses('arm64 headers, and no --arch', "--kernel-src $headers{'arm64-6.12'}", qr/headers for arm64, not for x86: use --arch arm64/);
refuses('headers alone, of x86', '--kernel-src x86', qr/do not suffice because the kernel is not for arm64/);
put_config('cfi', "CONFIG_ARM64 1\n#define CONFIG_CFI_CLANG");
refuses('headers alone, of a kernel with CFI', '--kernel-src cfi', qr/because the kernel checks call targets/);
SKIP: {
	skip('no aarch64-linux-gnu-objcopy on this machine', 1) if !-e "$dir/btf";
	refuses('headers alone, no compiler for them', $alone, qr/give --cross-compile/);
}
if ($ENV{SOAK}) {
	SKIP: {
		for (split(' ', $cross_tools)) {
			skip("a symbol that the kernel does not have: no $_ on this machine", 1) if !which($_);
		}
		run("grep -v _printk $headers{'arm64-6.12'}/Module.symvers >symvers");
		refuses('a symbol that the kernel does not have', "$alone --symvers symvers $cross",
			qr/this kernel has no _printk for modules/);
	}
}
SKIP: {
	skip('clang is not 14', 1) if `clang --version 2>&1` !~ /version 14\./ || !which('ld.lld');
	refuses('a clang that is too old', "$old --llvm", qr/unknown argument: .*this kernel needs a newer compiler/);
}
($rc, $said) = run("make -s --no-print-directory -C $top kmod HEADERS=pahole");
ok($rc && $said =~ /pahole is not needed: .* before 1\.23 misaligns members/, 'refused: HEADERS=pahole') or diag($said);

# ---- dkms ----

SKIP: {
	skip('no dkms on this machine', 1) if !which('dkms');
	skip('not root', 1) if $> != 0;
	make_path(map { "$dir/$_" } qw(src tree lib));
	run("make -s -C $top install PREFIX=$dir/usr");
	($rc, $said) = run("dkms --dkmstree $dir/tree --sourcetree $dir/src --installtree $dir/lib build " .
		"$dir/usr/share/schedtap/module -k 6.12 --kernelsourcedir $headers{'6.12'}");
	my @built = glob("$dir/tree/schedtap/*/6.12/*/module/schedtap.ko*");
	ok(!$rc && @built, 'dkms builds it') or diag($said, map { slurp($_) } glob("$dir/tree/schedtap/*/build/make.log"));
}
done_testing();
