#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each public function has its name in a man page of section 3, and names in these pages' synopses are those
# of the headers. The pages are rendered without a warning.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my %page = map { basename($_) => slurp($_) } glob("$top/docs/man/*.3.md");
my %function; # name => its header

# TAP_API: in a library. TAP_INLINE: in the header; those that begin with tap_ are parts of macros.
for my $header (glob("$top/include/schedtap/*.h $top/include/schedtap/trace_stages/*.h")) {
	my $text = slurp($header) =~ s/^.*\\\n//mgr =~ s/^#.*//mgr;

	$function{$1} = basename($header) while $text =~ /\bTAP_API\b[^;{(]*?\b(\w+)\s*\(/g;
	$function{$1} = basename($header) while $text =~ /\bTAP_INLINE\b[^;{(]*?\b(?!tap_)(\w+)\s*\(/g;
}
cmp_ok(scalar(keys(%function)), '>', 60, 'the functions were found');
my $pages = join('', values(%page));
my @without = grep { $pages !~ /\b\Q$_\E\b/ } sort(keys(%function));
is(join(' ', map { "$function{$_}:$_" } @without), '', 'each is named in a page of section 3');

for my $name (sort(keys(%page))) {
	my ($synopsis) = $page{$name} =~ /^# SYNOPSIS\n(.*?)^# /ms;
	my ($names) = $page{$name} =~ /^# NAME\n\n(.*?) - /ms;
	my @unknown = grep { !$function{$_} && !/_NAME/ } $synopsis =~ /^ {4}[a-z][^(\n]*?\b(tap_\w+|\w*trace\w+)\(/mg;
	my @unlisted = grep { /^tap_/ && !/_NAME/ && $names !~ /\b\Q$_\E\b/ } $synopsis =~ /\b(\w+)\(/g;

	is("@unknown", '', "$name: what its synopsis has is in a header");
	is("@unlisted", '', "$name: and in its NAME, for which there are links");
	SKIP: {
		skip('no lowdown, or no man, on this machine', 1) if system('{ command -v lowdown && command -v man; } >/dev/null');
		my $said = `$top/tools/man-page 1 $top/docs/man/$name | man --warnings -E UTF-8 -l -Tutf8 -Z - 2>&1 >/dev/null`;
		is($said, '', "$name: no warning");
	}
}
done_testing();
