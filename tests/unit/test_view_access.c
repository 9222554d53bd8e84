// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whom the server of a page answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "show/view/access.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define PORT 8080

/* What a case says in place of a secret. */
static const char ticket[] = "(ticket)", token[] = "(token)", cut[] = "(token, cut)",
		  longer[] = "(token, longer)", last[] = "(its last character)";

#define ASK(...)                                                                                   \
	{                                                                                          \
		.method = "GET", .host = "127.0.0.1:8080", __VA_ARGS__                             \
	}
#define PAGE(...) ASK(.path = "/", __VA_ARGS__)
#define PART(...) ASK(.path = "/part", __VA_ARGS__)
#define PART_OF(host_)                                                                             \
	{                                                                                          \
		.method = "GET", .path = "/part", .token = token, .host = host_                    \
	}

static const struct access_case {
	const char *name;
	struct tap_access_request asks[3]; /* one after the other, until one has no .method */
	unsigned int want[3];
} cases[] = {
	{ .name = "the ticket sends on", .asks = { PAGE(.in_address = ticket) }, .want = { 303 } },
	{
		.name = "it does so once, and the token opens the page again and again",
		.asks = { PAGE(.in_address = ticket), PAGE(.in_address = ticket),
			  PAGE(.in_address = token) },
		.want = { 303, 403, 200 },
	},
	{
		.name = "who is refused does not take the ticket",
		.asks = { PAGE(.in_address = ticket, .fetch_site = "cross-site"),
			  PAGE(.in_address = ticket) },
		.want = { 403, 303 },
	},
	{ .name = "no token in the address", .asks = { PAGE() }, .want = { 403 } },
	{ .name = "an empty one", .asks = { PAGE(.in_address = "") }, .want = { 403 } },
	{ .name = "a part of it", .asks = { PAGE(.in_address = cut) }, .want = { 403 } },
	{ .name = "more than it", .asks = { PAGE(.in_address = longer) }, .want = { 403 } },
	{ .name = "one character is another",
	  .asks = { PAGE(.in_address = last) },
	  .want = { 403 } },
	{ .name = "the page's token as a header does not open the page",
	  .asks = { PAGE(.token = token) },
	  .want = { 403 } },
	{ .name = "the header gives all else", .asks = { PART(.token = token) }, .want = { 200 } },
	{ .name = "the address does not", .asks = { PART(.in_address = token) }, .want = { 403 } },
	{ .name = "nor does the ticket", .asks = { PART(.token = ticket) }, .want = { 403 } },
	{ .name = "no header", .asks = { PART() }, .want = { 403 } },
	{ .name = "a header that is wrong in one character",
	  .asks = { PART(.token = last) },
	  .want = { 403 } },
	{ .name = "localhost", .asks = { PART_OF("localhost:8080") }, .want = { 200 } },
	{ .name = "another host", .asks = { PART_OF("example.org:8080") }, .want = { 403 } },
	{ .name = "a host that begins as ours",
	  .asks = { PART_OF("localhost:8080.example.org") },
	  .want = { 403 } },
	{ .name = "another port of ours", .asks = { PART_OF("localhost:80800") }, .want = { 403 } },
	{ .name = "a host without its port", .asks = { PART_OF("localhost") }, .want = { 403 } },
	{ .name = "no host", .asks = { PART_OF(NULL) }, .want = { 403 } },
	{ .name = "our origin",
	  .asks = { PART(.token = token, .origin = "http://localhost:8080") },
	  .want = { 200 } },
	{ .name = "another origin",
	  .asks = { PART(.token = token, .origin = "http://example.org") },
	  .want = { 403 } },
	{ .name = "another port's origin",
	  .asks = { PART(.token = token, .origin = "http://127.0.0.1:8081") },
	  .want = { 403 } },
	{ .name = "ours, with TLS",
	  .asks = { PART(.token = token, .origin = "https://127.0.0.1:8080") },
	  .want = { 403 } },
	{ .name = "an origin that is none",
	  .asks = { PART(.token = token, .origin = "null") },
	  .want = { 403 } },
	{ .name = "asked for by the page",
	  .asks = { PART(.token = token, .fetch_site = "same-origin") },
	  .want = { 200 } },
	{ .name = "by whoever types it",
	  .asks = { PAGE(.in_address = token, .fetch_site = "none") },
	  .want = { 200 } },
	{ .name = "by a page of another port",
	  .asks = { PART(.token = token, .fetch_site = "same-site") },
	  .want = { 403 } },
	{ .name = "POST",
	  .asks = { { .method = "POST",
		      .path = "/part",
		      .host = "localhost:8080",
		      .token = token } },
	  .want = { 405 } },
	{ .name = "HEAD",
	  .asks = { { .method = "HEAD",
		      .path = "/",
		      .host = "localhost:8080",
		      .in_address = token } },
	  .want = { 405 } },
};

struct secrets {
	char cut[TAP_SECRET_CHARS], longer[TAP_SECRET_CHARS + 2], last[TAP_SECRET_CHARS + 1];
};

static const char *secret(const struct tap_access *a, const struct secrets *s, const char *of)
{
	return of == ticket   ? a->ticket
	       : of == token  ? a->token
	       : of == cut    ? s->cut
	       : of == longer ? s->longer
	       : of == last   ? s->last
			      : of;
}

static void run_case(void **state)
{
	const struct access_case *c = *state;
	struct secrets s = { 0 };
	struct tap_access a;

	assert_int_equal(tap_access_init(&a, PORT, NULL), 0);
	memcpy(s.cut, a.token, TAP_SECRET_CHARS - 1);
	memcpy(s.longer, a.token, TAP_SECRET_CHARS);
	s.longer[TAP_SECRET_CHARS] = '0';
	memcpy(s.last, a.token, TAP_SECRET_CHARS);
	s.last[TAP_SECRET_CHARS - 1] ^= 1;
	for (unsigned int i = 0; i < TABLE(c->asks) && c->asks[i].method; i++) {
		struct tap_access_request q = c->asks[i];
		struct tap_err err = { 0 };

		q.in_address = secret(&a, &s, q.in_address);
		q.token = secret(&a, &s, q.token);
		assert_int_equal(tap_access_check(&a, &q, &err), c->want[i]);
		assert_int_equal(c->want[i] >= 400, err.text[0] != '\0');
	}
}

static void make_secrets(void **state)
{
	struct tap_access a[2];

	(void)state;
	for (unsigned int i = 0; i < TABLE(a); i++) {
		assert_int_equal(tap_access_init(&a[i], PORT, NULL), 0);
		assert_int_equal(strspn(a[i].ticket, "0123456789abcdef"), TAP_SECRET_CHARS);
		assert_int_equal(strspn(a[i].token, "0123456789abcdef"), TAP_SECRET_CHARS);
		assert_string_not_equal(a[i].ticket, a[i].token);
	}
	assert_string_not_equal(a[0].ticket, a[1].ticket);
	assert_string_not_equal(a[0].token, a[1].token);
}

int main(void)
{
	struct CMUnitTest tests[TABLE(cases) + 1] = { cmocka_unit_test(make_secrets) };

	for (size_t i = 0; i < TABLE(cases); i++)
		tests[i + 1] = (struct CMUnitTest){ .name = cases[i].name,
						    .test_func = run_case,
						    .initial_state = (void *)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
