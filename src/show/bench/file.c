// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/bench/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "file/budget.h"
#include "analysis/metric/bench.h"

/* 1000 rounds have 3 MB; shares of 500 hogs in each, 10 MB more. */
#define MAX_BYTES ((size_t)16 << 20)
#define MAX_ROUNDS 1000u
#define MAX_NUMBER 0x1p63 /* of ns, counts, percent: sums and differences stay finite */
#define SCHEMA 1
#define LOOKED_AT 64 /* bytes that may be blanks before the first '{' */

struct reading {
	struct tap_bench_file *f;
	char where[32]; /* "rounds[2].", or "" */
	bool misses_events;
	struct tap_err *err;
};

bool tap_bench_is_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[LOOKED_AT + 1] = "";
	ssize_t len = fd < 0 ? 0 : pread(fd, text, LOOKED_AT, 0);

	if (fd >= 0)
		close(fd);
	return len > 0 && text[strspn(text, " \t\r\n")] == '{';
}

/* ---- values ---- */

/* @object: NULL, or the name of the object that has the key. */
static int refuse(const struct reading *r, const char *object, const char *key, const char *why)
{
	return tap_err_set(r->err, -EBADMSG, "'%.300s' is not JSON of schedtap bench: %s%s%s%s %s",
			   r->f->path, r->where, object ?: "", object ? "." : "", key, why);
}

static int take_number(const struct reading *r, const json_t *v, const char *object,
		       const char *key, double *number)
{
	*number = json_number_value(v);
	if (!json_is_number(v) || !(*number >= 0 && *number <= MAX_NUMBER))
		return refuse(r, object, key, "is not a number from 0 to 2^63");
	return 0;
}

/* The share of a reason in the waits above the p99, or NAN. */
static int take_reason(const struct reading *r, const json_t *round, const char *reason,
		       double *pct)
{
	const json_t *entry, *why = json_object_get(round, TAP_BENCH_WHY);
	const char *above;
	size_t i;

	*pct = NAN;
	json_array_foreach(why, i, entry) {
		above = json_string_value(json_object_get(entry, "above"));
		if (!above || strcmp(above, "p99"))
			continue;
		if (!json_integer_value(json_object_get(entry, "waits")))
			return 0;
		entry = json_object_get(json_object_get(entry, "reasons"), reason);
		return take_number(r, json_object_get(entry, "pct"), "why[].reasons", reason, pct);
	}
	return 0;
}

/* Find a figure's value; NAN if it is unknown. A histogram without values has no percentiles. */
static int take_figure(const struct reading *r, const json_t *round,
		       const struct tap_bench_figure *f, double *value)
{
	const json_t *of = f->object ? json_object_get(round, f->object) : round, *v, *count;

	*value = NAN;
	if (!of)
		return 0;
	if (f->object && !strcmp(f->object, TAP_BENCH_WHY))
		return json_is_array(of) ? take_reason(r, round, f->key, value)
					 : refuse(r, NULL, f->object, "is not an array");
	if (!json_is_object(of))
		return refuse(r, NULL, f->object, "is not an object");
	count = f->object ? json_object_get(of, "count") : NULL;
	if (json_is_integer(count) && !json_integer_value(count))
		return 0;
	v = json_object_get(of, f->key);
	if (!f->object && (json_is_null(v) || (!v && strcmp(f->key, "rate"))))
		return 0;
	return v ? take_number(r, v, f->object, f->key, value)
		 : refuse(r, f->object, f->key, "is missing");
}

/* A number from a recording has no bounds if events are missing; all others are exact. */
static int add_figure(const struct reading *r, const struct tap_bench_figure *f, double value,
		      struct tap_metrics *out)
{
	unsigned int before = out->nr;

	if (tap_bench_figure_add(out, f, value))
		return tap_err_nomem(r->err);
	if (out->nr > before && !(f->is_recorded && r->misses_events))
		out->v[before].low = out->v[before].high = value;
	return 0;
}

static int read_figures(const struct reading *r, const json_t *round, struct tap_metrics *out)
{
	struct tap_bench_figure f;
	double value;
	int ret = 0;

	if (!json_is_object(round))
		return tap_err_set(r->err, -EBADMSG,
				   "'%.300s' is not JSON of schedtap bench: %.*s is not an object",
				   r->f->path, (int)strcspn(r->where, "."), r->where);
	for (unsigned int i = 0; !ret && tap_bench_figure(i, &f); i++) {
		ret = take_figure(r, round, &f, &value) ?: add_figure(r, &f, value, out);
	}
	return ret;
}

/* ---- options and the machine ---- */

static const char *const options[] = { "threads",    "messengers", "duration_ns",
				       "warm_up_ns", "products",   "record" };
#define NR_OPTIONS (sizeof(options) / sizeof(*options))

static const json_t *option_of(const struct tap_bench_file *f, const char *name)
{
	return json_object_get(json_object_get(f->json, "options"), name);
}

static uint64_t number_of(const json_t *v)
{
	return json_is_boolean(v) ? json_is_true(v) : (uint64_t)json_integer_value(v);
}

static int check_options(const struct reading *r)
{
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		const json_t *v = option_of(r->f, options[i]);
		bool is_optional = !strcmp(options[i], "products");

		if (!strcmp(options[i], "record") ? !json_is_boolean(v)
		    : v && !json_is_null(v)	  ? !json_is_integer(v) || json_integer_value(v) < 0
						  : !is_optional)
			return refuse(r, "options", options[i],
				      v ? "has a wrong value" : "is missing");
	}
	return 0;
}

/* What is unknown is null. */
static int check_machine(const struct reading *r)
{
	static const struct {
		const char *key;
		bool is_text;
	} members[] = { { "kernel", true },   { "scheduler", true }, { "preemption", true },
			{ "governor", true }, { "cpus", false },     { "base_slice_ns", false } };
	const json_t *machine = json_object_get(r->f->json, "machine");

	if (!json_is_object(machine))
		return refuse(r, NULL, "machine", "is not an object");
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		const json_t *v = json_object_get(machine, members[i].key);
		bool is_fine = members[i].is_text
				       ? json_is_string(v)
				       : json_is_integer(v) && json_integer_value(v) >= 0;

		if (v && !json_is_null(v) && !is_fine)
			return refuse(r, "machine", members[i].key, "has a wrong value");
	}
	return 0;
}

const char *tap_bench_file_text(const struct tap_bench_file *f, const char *key)
{
	return json_string_value(json_object_get(json_object_get(f->json, "machine"), key));
}

int64_t tap_bench_file_number(const struct tap_bench_file *f, const char *key)
{
	const json_t *v = json_object_get(json_object_get(f->json, "machine"), key);

	return json_is_integer(v) && json_integer_value(v) >= 0 ? json_integer_value(v) : -1;
}

uint64_t tap_bench_file_products(const struct tap_bench_file *f)
{
	return number_of(option_of(f, "products"));
}

double tap_bench_file_others_pct(const struct tap_bench_file *f)
{
	const struct tap_metric *others = tap_metrics_find(&f->all, "bench.others.share");

	return others ? others->value : NAN;
}

static int compare_option(const struct tap_bench_file *a, const struct tap_bench_file *b,
			  const char *name, struct tap_err *err)
{
	unsigned long long of_a = number_of(option_of(a, name)),
			   of_b = number_of(option_of(b, name));

	if (of_a == of_b)
		return 0;
	if (!strcmp(name, "record"))
		return tap_err_set(err, -ENODATA,
				   "'%.300s' was recorded, and '%.300s' was not (--no-record): "
				   "recording slows a load down",
				   of_a ? a->path : b->path, of_a ? b->path : a->path);
	if (!strcmp(name, "products"))
		return tap_err_set(err, -ENODATA,
				   "a request is %llu matrix products in '%.300s' and %llu in "
				   "'%.300s': for equal work run bench with --products %llu",
				   of_a, a->path, of_b, b->path, of_a);
	return tap_err_set(err, -ENODATA,
			   "the options of the load differ: %s is %llu in '%.300s' and %llu in "
			   "'%.300s'",
			   name, of_a, a->path, of_b, b->path);
}

int tap_bench_file_compare(const struct tap_bench_file *a, const struct tap_bench_file *b,
			   struct tap_err *err)
{
	const char *of_a = json_string_value(json_object_get(a->json, "bench")),
		   *of_b = json_string_value(json_object_get(b->json, "bench"));
	int ret = 0;

	if (strcmp(of_a, of_b))
		return tap_err_set(err, -ENODATA,
				   "the loads differ: %.100s in '%.300s' and %.100s in '%.300s'",
				   of_a, a->path, of_b, b->path);
	for (size_t i = 0; !ret && i < NR_OPTIONS; i++)
		ret = compare_option(a, b, options[i], err);
	return ret;
}

/* ---- a file ---- */

static int parse(const struct reading *r, const struct tap_buf *text)
{
	struct tap_budget budget = { .path = (char *)r->f->path, .file_bytes = text->len };
	json_error_t why = { 0 };
	int ret = tap_budget_set(&budget, TAP_COST_DESCRIPTION,
				 tap_budget_json_bytes(text->data, text->len), r->err);

	if (ret)
		return ret;
	r->f->json = json_loadb(text->data, text->len, JSON_REJECT_DUPLICATES, &why);
	if (r->f->json)
		return 0;
	if (json_error_code(&why) == json_error_out_of_memory)
		return tap_err_nomem(r->err);
	return tap_err_set(r->err, -EBADMSG, "'%.300s' is not JSON of schedtap bench: line %d: %s",
			   r->f->path, why.line, why.text);
}

static int check_head(const struct reading *r)
{
	const json_t *schema = json_object_get(r->f->json, "schema");

	if (!json_string_value(json_object_get(r->f->json, "bench")))
		return refuse(r, NULL, "bench", "is not the name of a load");
	if (json_is_integer(schema) && json_integer_value(schema) > SCHEMA)
		return tap_err_set(r->err, -EOPNOTSUPP,
				   "'%.300s' is from a newer schedtap bench: its JSON has schema "
				   "%lld, not %d",
				   r->f->path, (long long)json_integer_value(schema), SCHEMA);
	return json_integer_value(schema) == SCHEMA ? check_options(r) ?: check_machine(r)
						    : refuse(r, NULL, "schema", "is not 1");
}

static int read_losses(struct reading *r)
{
	double lost, censored;
	int ret = take_number(r, json_object_get(r->f->json, "lost"), NULL, "lost", &lost)
			  ?: take_number(r, json_object_get(r->f->json, "censored"), NULL,
					 "censored", &censored);

	if (ret)
		return ret;
	r->f->lost = (uint64_t)lost;
	r->misses_events = lost || censored;
	return 0;
}

static int read_rounds(struct reading *r)
{
	const json_t *rounds = json_object_get(r->f->json, "rounds");
	size_t nr = json_array_size(rounds);
	int ret = 0;

	if (!nr || nr > MAX_ROUNDS)
		return refuse(r, NULL, "rounds", "is not an array of 1 to 1000 rounds");
	r->f->rounds = calloc(nr, sizeof(*r->f->rounds));
	if (!r->f->rounds)
		return tap_err_nomem(r->err);
	r->f->nr_rounds = (unsigned int)nr;
	for (unsigned int i = 0; !ret && i < nr; i++) {
		snprintf(r->where, sizeof(r->where), "rounds[%u].", i);
		ret = read_figures(r, json_array_get(rounds, i), &r->f->rounds[i]);
	}
	r->where[0] = '\0';
	return ret;
}

static int read_all(struct reading *r, const struct tap_buf *text)
{
	return parse(r, text) ?:
	       check_head(r) ?:
	       read_losses(r) ?:
	       read_figures(r, r->f->json, &r->f->all) ?:
	       read_rounds(r);
}

int tap_bench_file_read(struct tap_bench_file *f, struct tap_err *err)
{
	struct reading r = { .f = f, .err = err };
	struct tap_buf text = { .max = MAX_BYTES };
	int ret = tap_buf_read_file(&text, f->path);

	errno = -ret;
	if (ret == -EFBIG)
		ret = tap_err_set(err, ret,
				  "'%.300s' is not JSON of schedtap bench: it is larger than %zu "
				  "MiB",
				  f->path, MAX_BYTES >> 20);
	else if (ret)
		ret = tap_err_set(err, ret, "cannot read '%.300s': %m", f->path);
	else
		ret = read_all(&r, &text);
	tap_buf_release(&text);
	return ret;
}

void tap_bench_file_release(struct tap_bench_file *f)
{
	for (unsigned int i = 0; i < f->nr_rounds; i++)
		tap_metrics_release(&f->rounds[i]);
	free(f->rounds);
	tap_metrics_release(&f->all);
	json_decref(f->json);
	*f = (struct tap_bench_file){ 0 };
}
