// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "record/bpf/kernel.h"
#include "cli/cmd.h"
#include "cli/tries.h"

static void print_reason(const char *text)
{
	struct tap_buf why = { 0 };

	tap_text_escape(&why, text, strlen(text));
	printf("     %-24s %s\n", "", tap_buf_str(&why));
	tap_buf_release(&why);
}

/*
 * Print the results of all checks. A reason that several consecutive checks share is printed once.
 */
static void print_results(const struct tap_err *results)
{
	const char *said = "";

	for (unsigned int i = 0; i < TAP_NR_TRIES; i++) {
		const char *why = results[i].code ? results[i].text : "";

		printf("%-4s %-24s %s\n", *why ? "no" : "ok", tap_tries[i].name,
		       tap_tries[i].enables);
		if (*why && strcmp(why, said))
			print_reason(why);
		said = why;
	}
}

/* @loaded: the kernel has accepted a BPF program; if not, only its types say which events exist. */
static void print_events(const struct tap_kernel *kernel, bool loaded)
{
	const struct tap_def *def;
	unsigned int have = 0, all = 0;

	for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
		struct tap_buf why = { 0 };

		if (tap_kernel_hook(kernel, def, &why)) {
			have++;
			all++;
		} else if (def->nr_hooks) {
			all++;
			printf("no   %-24s %s\n", def->name, tap_buf_str(&why));
		}
		tap_buf_release(&why);
	}
	printf("%u of %u built-in events can be recorded over BPF here%s\n", have, all,
	       loaded ? "" : ", judging by the kernel's types only");
}

static int run_doctor(void *opts, const struct tap_strings *operands, char **rest)
{
	struct tap_err results[TAP_NR_TRIES] = { 0 }, err = { 0 };
	struct tap_kernel *kernel;
	bool bpf, tracefs;

	(void)opts;
	(void)operands;
	(void)rest;
	if (tap_try_all(results, &err))
		return tap_cmd_fail(&err, false);
	bpf = !results[TAP_TRY_BPF].code;
	tracefs = !results[TAP_TRY_TRACEFS].code;
	print_results(results);
	if (!tap_kernel_new(&kernel, NULL))
		print_events(kernel, bpf);
	tap_kernel_free(kernel);
	printf("recording works here: %s\n", bpf       ? "yes, over BPF"
					     : tracefs ? "yes, from tracefs only"
						       : "no");
	return bpf || tracefs ? TAP_EXIT_OK : TAP_EXIT_MISSING;
}

const struct tap_cmd tap_cmd_doctor = {
	.name = "doctor",
	.help = "what works here, what is missing and how to fix it",
	.exits = "0 recording works, 1 the checks failed, 2 usage error, 3 recording is not "
		 "possible",
	.example = "schedtap doctor",
	.run = run_doctor,
};
