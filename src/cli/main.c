// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/cli.h"

int main(int argc, char **argv)
{
	return tap_cli_run(argc, argv);
}
