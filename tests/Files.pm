# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A file's whole content, read and written. What fails is fatal.
package Files;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path);
our @EXPORT = qw(slurp spew);

sub slurp {
	my ($path) = @_;

	local $/;
	open(my $f, '<:raw', $path) or die "$path: $!\n";
	return scalar(<$f>) // '';
}

# Makes the folder as well. Return: @path.
sub spew {
	my ($path, $text) = @_;

	make_path(dirname($path));
	open(my $f, '>:raw', $path) or die "$path: $!\n";
	print $f $text or die "$path: $!\n";
	close($f) or die "$path: $!\n";
	return $path;
}

1;
