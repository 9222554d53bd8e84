// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/view/access.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static int make_secret(char *text, struct tap_err *err)
{
	unsigned char random[TAP_SECRET_BYTES];

	/* requests of up to 256 bytes are never cut short */
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return tap_err_set(err, -errno, "cannot create an access token: %m");
	for (unsigned int i = 0; i < TAP_SECRET_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", random[i]);
	return 0;
}

int tap_access_init(struct tap_access *a, uint16_t port, struct tap_err *err)
{
	*a = (struct tap_access){ .port = port };
	return make_secret(a->ticket, err) ?: make_secret(a->token, err);
}

/* Compare in constant time, so that a secret cannot be guessed character by character. */
static bool is_secret(const char *text, const char *secret)
{
	unsigned char differences = 0;

	if (!text || strlen(text) != TAP_SECRET_CHARS)
		return false;
	for (unsigned int i = 0; i < TAP_SECRET_CHARS; i++)
		differences |= (unsigned char)(text[i] ^ secret[i]);
	return !differences;
}

/*
 * Return true if @text is our host and port. Another name that resolves to us is how pages of other
 * origins would read our answers (DNS rebinding).
 */
static bool is_here(const struct tap_access *a, const char *before, const char *text)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char here[64];

	for (unsigned int i = 0; text && i < sizeof(names) / sizeof(*names); i++) {
		snprintf(here, sizeof(here), "%s%s:%u", before, names[i], a->port);
		if (!strcmp(text, here))
			return true;
	}
	return false;
}

/*
 * Return true if a page of another origin sent the request. Another port of this machine is the
 * same site, but another origin. "none": the user typed the address, or another program opened it.
 */
static bool comes_from_elsewhere(const struct tap_access *a, const struct tap_access_request *q)
{
	return (q->origin && !is_here(a, "http://", q->origin)) ||
	       (q->fetch_site && strcmp(q->fetch_site, "same-origin") &&
		strcmp(q->fetch_site, "none"));
}

static unsigned int refuse_request(struct tap_err *err, unsigned int status, const char *why)
{
	tap_err_set(err, -EPERM, "%s", why);
	return status;
}

static unsigned int check_page(struct tap_access *a, const char *in_address, struct tap_err *err)
{
	if (is_secret(in_address, a->token))
		return 200;
	if (!is_secret(in_address, a->ticket))
		return refuse_request(
			err, 403,
			"refused: the token is missing or wrong; open the whole address that "
			"`schedtap view` printed");
	if (atomic_exchange(&a->is_taken, true))
		return refuse_request(
			err, 403,
			"refused: this address works only once and was already used; run "
			"`schedtap view` again for another address");
	return 303;
}

unsigned int tap_access_check(struct tap_access *a, const struct tap_access_request *q,
			      struct tap_err *err)
{
	if (strcmp(q->method, "GET"))
		return refuse_request(err, 405, "refused: only GET is supported");
	if (!is_here(a, "", q->host))
		return refuse_request(err, 403, "refused: the host must be 127.0.0.1 or localhost");
	if (comes_from_elsewhere(a, q))
		return refuse_request(err, 403, "refused: the request comes from another page");
	if (!strcmp(q->path, "/"))
		return check_page(a, q->in_address, err);
	return is_secret(q->token, a->token)
		       ? 200
		       : refuse_request(err, 403, "refused: the token is missing or wrong");
}
