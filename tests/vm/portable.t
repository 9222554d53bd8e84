#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One event header, built as a module for two kernels and as a program: the format files of the guest's
# tracefs and those of the program's control file are the same bytes but for the ID, and so is what is
# printed of each record. Where kernels differ, ours is the newer one's:
#
#   char is unsigned from 6.2 on; a program has what its compiler has: the one that is compared with 6.1
#   is built with -fsigned-char, the other with -funsigned-char.
#   __print_hex() left out the space between 16 bytes and the next 16 in 6.1; later ones do not.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__);
use VM;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $build = $ENV{BUILD} ? abs_path($ENV{BUILD}) : "$top/build";
my $portable = "$top/tests/tracepoint";
my $libs = '-lpthread'; # of the tracepoints
my %char = ('6.1' => 'signed', '6.12' => 'unsigned');
my $quiet_s = 60; # a guest is never silent as long

sub missing {
	return "no libraries in '$build'" if !-e "$build/libschedtap-tracepoint.a" || !-e "$build/libschedtap.a";
	return lacks_for_x86_guests(qw(make gcc));
}

# Return: what the compiler said, '' if it is there.
sub build_module {
	my ($dir, $headers) = @_;

	make_path("$dir/module");
	copy($_, "$dir/module/") or die "$_: $!"
		for "$portable/portable.h", "$portable/portable_fire.h", "$top/tests/vm/portable_module.c";
	open(my $f, '>', "$dir/module/Kbuild") or die "$dir/module/Kbuild: $!";
	print $f "obj-m := portable.o\nportable-y := portable_module.o\nCFLAGS_portable_module.o := -I\$(src)\n";
	close($f);
	# the module's own types would need pahole
	my $said = `make -s -C $headers M=$dir/module CONFIG_DEBUG_INFO_BTF_MODULES= modules 2>&1`;
	return $? ? $said : '';
}

sub make_initramfs {
	my ($dir) = @_;
	my $root = "$dir/root";

	make_path(map { "$root/$_" } qw(bin proc sys dev));
	install_program($root, which('busybox'), 'busybox');
	copy("$top/tests/vm/portable-init", "$root/init") or die "init: $!";
	copy("$dir/module/portable.ko", "$root/portable.ko") or die "portable.ko: $!";
	chmod(0755, "$root/init");
	pack_initramfs($root, "$dir/initrd");
}

sub boot {
	my ($dir, $vmlinuz) = @_;

	my $why = run_guest($quiet_s, "$dir/out", 'qemu-system-x86_64', '-accel', 'tcg', '-cpu', 'max', '-m', 512,
		'-nodefaults', '-display', 'none', '-no-reboot', '-serial', "file:$dir/log", '-serial', "file:$dir/out",
		'-kernel', $vmlinuz, '-initrd', "$dir/initrd", '-append', 'console=ttyS0 panic=-1 oops=panic');
	is($why, '', 'the guest comes to its end') or diag(substr(slurp("$dir/log"), -600)) or return;
	return steps_of(slurp("$dir/out"));
}

# The same of the program.
sub ours {
	my ($dir, $char) = @_;
	my $said = `cd $portable && gcc -O2 -Wall -Wextra -Werror -f$char-char -D_GNU_SOURCE -I$top/include/schedtap/kernel \\
		-I$top/include -I$top/src -I. portable_main.c -o $dir/portable \\
		$build/libschedtap-tracepoint.a $build/libschedtap.a $libs 2>&1`;

	is($said, '', 'the program compiles') or return {};
	return steps_of(scalar(`XDG_RUNTIME_DIR=$dir $dir/portable`));
}

# Records as they are printed, by event.
sub printed {
	my ($text) = @_;
	my %printed;

	# in the kernel's trace "comm-pid [cpu] flags time: " stands before it, a record may have many lines
	$text =~ s/^#.*\n//mg;
	$text =~ s/^ *\S+-\d+ +\[\d+\].*? [\d.]+: (?=p_\w+: )//mg;
	push(@{$printed{$1}}, $2) while $text =~ /^(p_\w+): (.*?)\n(?=p_\w+: |\z)/smg;
	return \%printed;
}

sub check {
	my ($theirs, $ours) = @_;
	my @events = grep { /^p_/ } sort(keys %$theirs);

	is_deeply([grep { /^p_/ } sort(keys %$ours)], \@events, 'the same events');
	cmp_ok(scalar(@events), '>', 10, 'and all of them');
	for my $event (@events) {
		my ($want, $got) = map { $_->{$event}{text} =~ s/^ID: \d+$/ID: 0/mr } $theirs, $ours;

		is($got, $want, "$event: format");
	}
	my ($want, $got) = map { printed($_->{trace}{text} // '') } $theirs, $ours;
	for my $event (@events) {
		cmp_ok(scalar(@{$want->{$event} // []}), '>', 0, "$event: the kernel recorded it");
		s/\|(?:[0-9a-f]{2} ){15}[0-9a-f]{2}\K(?=[0-9a-f]{2})/ / for @{$want->{$event}};
		is_deeply($got->{$event}, $want->{$event}, "$event: printed");
	}
}

sub check_kernel {
	my ($dir, $name, $vmlinuz, $headers) = @_;

	make_path($dir);
	is(build_module($dir, $headers), '', 'the module is built') or return;
	make_initramfs($dir);
	my $theirs = boot($dir, $vmlinuz);
	is($theirs->{load}{rc} // 'none', 0, 'the module is loaded') or diag(substr(slurp("$dir/log"), -600)) or return;
	unlike(slurp("$dir/log"), qr/\b(?:BUG|Oops|WARNING)\b/, 'the kernel has no complaint');
	check($theirs, ours($dir, $char{$name}));
}

my $why = missing();
plan(skip_all => $why) if $why;

my $dir = tempdir(CLEANUP => !$ENV{KEEP});
my %guests;
for (`$top/tests/vm/fetch 6.1 6.12 2>$dir/err`) {
	my ($name, $vmlinuz, undef, $version, $headers) = split;

	$guests{$name} = [$vmlinuz, $headers, $version];
}
for my $name (qw(6.1 6.12)) {
	SKIP: {
		skip("$name: no kernel, or no headers of it: " . slurp("$dir/err"), 1) if ($guests{$name}[1] // '-') eq '-';
		subtest "$name ($guests{$name}[2])" => sub { check_kernel("$dir/$name", $name, @{$guests{$name}}) };
	}
}
done_testing();
