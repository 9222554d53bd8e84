// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap check: check recordings against rules. */
#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "analysis/metric/bounds.h"
#include "show/report/check.h"
#include "cli/cmd.h"

struct check_opts {
	const char *window, *between, *by;
	const struct tap_check_format *format;
	bool is_strict, list;
};

/* clang-format off */
#define FORMAT(name_, format_, help_)                                                              \
	{ .name = name_, .help = help_, .type = TAP_OPT_CHOICE,                                    \
	  .offset = offsetof(struct check_opts, format), .choice = format_ }
/* clang-format on */
static const struct tap_opt options[] = {
	TAP_OPT_WINDOW(struct check_opts, window),
	TAP_OPTION(struct check_opts, between, "between", 0, "START,DONE", TAP_OPT_STRING,
		   "requests for critical.between rules: from event START to event DONE (see "
		   "schedtap-critical(1))"),
	TAP_OPTION(struct check_opts, by, "by", 0, "FIELD", TAP_OPT_STRING,
		   "with --between: the field that pairs START and DONE of a request"),
	TAP_OPTION(struct check_opts, is_strict, "strict", 0, NULL, TAP_OPT_FLAG,
		   "treat undecided rules as failed"),
	TAP_OPTION(struct check_opts, list, "list", 0, NULL, TAP_OPT_FLAG,
		   "print the metrics that rules can use, without checking anything"),
	FORMAT("json", &tap_check_json, "print JSON"),
	FORMAT("tap", &tap_check_tap, "print TAP, the Test Anything Protocol"),
	FORMAT("junit", &tap_check_junit, "print JUnit XML"),
	{ 0 }
};

/* Append the folder of the rules that schedtap ships: the installed one, or that of the tree where
 * schedtap was built. */
static void put_shipped_folder(struct tap_buf *path)
{
	char program[PATH_MAX], *folder;
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[len > 0 ? len : 0] = '\0';
	folder = dirname(program);
	tap_buf_printf(path, "%s/../share/schedtap/rules", folder);
	if (!access(tap_buf_str(path), F_OK))
		return;
	tap_buf_clear(path);
	tap_buf_printf(path, "%s/../rules", folder);
}

/* Append "; schedtap ships NAME, NAME": the rules that a word can name. */
static void put_shipped(struct tap_buf *names)
{
	struct tap_buf pattern = { 0 };
	glob_t found = { 0 };

	put_shipped_folder(&pattern);
	tap_buf_puts(&pattern, "/*.rules");
	if (!pattern.err && !glob(tap_buf_str(&pattern), 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *name = strrchr(found.gl_pathv[i], '/') + 1;

			tap_buf_printf(names, "%s%.*s", i ? ", " : "; schedtap ships ",
				       (int)strcspn(name, "."), name);
		}
	globfree(&found);
	tap_buf_release(&pattern);
}

/*
 * Read rules from a file. If no such file exists, a word with a comparison is a condition, and one
 * without a slash is the name of shipped rules.
 */
static int read_rules(const char *word, struct tap_rules *rules, struct tap_err *err)
{
	struct tap_buf path = { 0 }, names = { 0 }, text = { .max = TAP_RULES_MAX_BYTES };
	bool is_shipped = !strchr(word, '/') && access(word, F_OK);
	int ret;

	if (strpbrk(word, "<>=!") && access(word, F_OK))
		return tap_rules_parse_condition(rules, word, err);
	if (is_shipped)
		put_shipped_folder(&path);
	tap_buf_printf(&path, is_shipped ? "/%s.rules" : "%s", word);
	ret = path.err ?: tap_buf_read_file(&text, tap_buf_str(&path));
	errno = -ret;
	if (ret == -ENOENT && is_shipped) {
		put_shipped(&names);
		ret = tap_err_set(err, ret, "no rules '%.200s': there is no such file%.300s", word,
				  tap_buf_str(&names));
	} else if (ret)
		ret = tap_err_set(err, ret, "cannot read '%.300s': %m", word);
	else
		ret = tap_rules_parse(rules, word, text.data ?: "", text.len, err);
	tap_buf_release(&path);
	tap_buf_release(&names);
	tap_buf_release(&text);
	return ret;
}

static int print_output(const struct tap_buf *out, struct tap_err *err)
{
	int ret = out->err ?: tap_write_all(STDOUT_FILENO, out->data, out->len);

	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write: %m") : 0;
}

static int list_metrics(struct tap_err *err)
{
	struct tap_metrics names = { 0 };
	struct tap_buf out = { 0 };
	int ret = tap_metrics_names(&names);

	for (unsigned int i = 0; i < names.nr; i++)
		tap_buf_printf(&out, "%-32s %s\n", names.v[i].name,
			       tap_metric_unit_name(names.v[i].unit));
	ret = ret ? tap_err_set(err, ret, "out of memory") : print_output(&out, err);
	tap_metrics_release(&names);
	tap_buf_release(&out);
	return ret;
}

/* Print the notes from reading the recordings on stderr. */
static void print_notes(const struct tap_buf *notes)
{
	struct tap_err err = { 0 };

	for (size_t from = 0, len; from < notes->len; from += len + 1) {
		len = (size_t)((const char *)memchr(notes->data + from, '\n', notes->len - from) -
			       (notes->data + from));
		tap_err_set(&err, -ENODATA, "%.*s", (int)len, notes->data + from);
		tap_cmd_fail(&err, false);
	}
}

static int check_recordings(const struct check_opts *opts, struct tap_check *c, bool *usage,
			    struct tap_err *err)
{
	static const int codes[] = {
		[TAP_RULE_PASSED] = TAP_EXIT_OK,
		[TAP_RULE_UNDECIDED] = TAP_EXIT_UNDECIDED,
		[TAP_RULE_FAILED] = TAP_EXIT_BROKEN,
	};
	struct tap_buf out = { 0 };
	int ret = tap_check_run(c, usage, err), code = 0;

	if (!ret) {
		print_notes(&c->notes);
		(opts->format ?: &tap_check_text)->put(c, &out);
		ret = print_output(&out, err);
		code = codes[tap_check_verdict(c)];
	}
	tap_buf_release(&out);
	return ret ?: opts->is_strict && code ? TAP_EXIT_BROKEN : code;
}

static int refuse_operands(unsigned int nr)
{
	struct tap_buf names = { 0 };
	struct tap_err err = { 0 };

	put_shipped(&names);
	tap_err_set(&err, -EINVAL,
		    "expected rules and recordings, but %s given: use `schedtap check RULES "
		    "RECORDING...`%.300s",
		    nr ? "no recording was" : "nothing was", tap_buf_str(&names));
	tap_buf_release(&names);
	return tap_cmd_fail(&err, true);
}

static int run_check(void *opts_, const struct tap_strings *operands, char **rest)
{
	const struct check_opts *opts = opts_;
	struct tap_err err = { 0 };
	struct tap_rules rules = { 0 };
	struct tap_check c = { .rules = &rules,
			       .window = opts->window,
			       .between = opts->between,
			       .by = opts->by,
			       .is_strict = opts->is_strict };
	bool usage = true;
	int ret;

	(void)rest;
	if (opts->list)
		return list_metrics(&err) ? tap_cmd_fail(&err, false) : TAP_EXIT_OK;
	if (operands->nr < 2)
		return refuse_operands(operands->nr);
	c.paths = operands->v + 1;
	c.nr_paths = operands->nr - 1;
	ret = read_rules(operands->v[0], &rules, &err);
	if (!ret)
		ret = check_recordings(opts, &c, &usage, &err);
	tap_check_release(&c);
	tap_rules_release(&rules);
	return ret < 0 ? tap_cmd_fail(&err, usage) : ret;
}

const struct tap_cmd tap_cmd_check = {
	.name = "check",
	.help = "check recordings against rules, for CI",
	.exits = "0 all rules passed, 1 a file cannot be read, 2 usage error, 3 no access or "
		 "unknown format,\n            4 a rule failed, 5 none failed but one is undecided",
	.operands = "RULES|CONDITION RECORDING...",
	.example = "schedtap check --list",
	.opts = options,
	.opts_size = sizeof(struct check_opts),
	.run = run_check,
};
