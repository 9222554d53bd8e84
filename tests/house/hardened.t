#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Installed programs and libraries are built with hardening: full RELRO, immediate binding, FORTIFY
# and stack protector.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

my $build = abs_path($ENV{BUILD} // dirname(abs_path($0)) . '/../../build');

for my $file (qw(schedtap libschedtap.so libschedtap-tracepoint.so)) {
	SKIP: {
		skip("no $build/$file", 4) if !-e "$build/$file";
		my $said = qx(readelf -lWd --dyn-syms '$build/$file');
		like($said, qr/^ +GNU_RELRO /m, "$file: what is relocated becomes read-only");
		like($said, qr/\(FLAGS_1\).*\bNOW\b/, "$file: with all names bound before");
		like($said, qr/ __\w+_chk\b/, "$file: FORTIFY");
		like($said, qr/ __stack_chk_fail\b/, "$file: stack protector");
	}
}
done_testing();
