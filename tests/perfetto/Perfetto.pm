# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Perfetto's trace processor, asked by tests (query.mjs).
package Perfetto;
use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use IPC::Open2;
use JSON::PP;
our @EXPORT = qw(missing ask export_of);

my $here = dirname(abs_path(__FILE__));
my ($to, $from);

# Return: why it cannot be asked; undef.
sub missing {
	return 'no node on this machine' if system('command -v node >/dev/null') != 0;
	chomp(my $folder = `$here/fetch 2>/dev/null`);
	return 'no trace processor on this machine' if $? || $folder eq '';
	open2($from, $to, 'node', "$here/query.mjs", $folder);
	return;
}

# ask FILE, NAME => SQL, ...: in this order. Return: {NAME => [{COLUMN => VALUE}]}
sub ask {
	my ($file, @queries) = @_;

	print $to encode_json({ file => $file, queries => \@queries }), "\n";
	$to->flush;
	my $line = <$from> // die "the trace processor ended at $file\n";
	return decode_json($line);
}

# export_of RECORDING, OPTION...: the recording as a Perfetto trace, beside it.
sub export_of {
	my ($recording, @options) = @_;
	my $trace = $recording =~ s/\.dat$/.pftrace/r;

	system($ENV{SCHEDTAP}, 'export', '--to', 'perfetto', '-i', $recording, '-o', $trace, @options) == 0 or die "export of $recording\n";
	return $trace;
}

1;
