// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes on a connection to `schedtap view`: libmicrohttpd parses them, and the server answers
 * what it got. Both ends are in one thread and use a socket pair, so that a run does not depend on
 * the network or on time. Without the token the server sends no page, part or report, and no answer
 * contains the token.
 *
 * In the input @T stands for the token and @P for the port, as they differ between processes.
 */
#include <dlfcn.h>
#include <poll.h>

/* The server's real source, but without its threads. */
static void *find_function(void *library, const char *name);
static int wait_at(struct pollfd *p, nfds_t nr, int ms);
#define dlsym find_function
#define poll wait_at
#include "show/http/http.c"
#undef dlsym
#undef poll

#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "show/export/html_reports.h"
#include "show/view/access.h"
#include "show/view/view.h"
#include "check.h"

#define MAX_ANSWER (4u << 20)

/* A small recording. */
__asm__(".pushsection .rodata\n"
	"recording: .incbin \"tests/recordings/0.1/filtered.dat\"\n"
	"recording_end: .popsection");
extern const char recording[], recording_end[];

static struct tap_view *view;
static struct MHD_Daemon *server;
static typeof(&MHD_start_daemon) start_daemon;
static typeof(&MHD_add_connection) add_connection;
static typeof(&MHD_run) run_daemon;
static int client = -1;
static char token[TAP_SECRET_CHARS + 1], port[6];

/* ---- the server ---- */

static struct MHD_Daemon *start_without_threads(unsigned int flags, uint16_t nr,
						MHD_AcceptPolicyCallback accepts, void *accepts_ctx,
						MHD_AccessHandlerCallback answers, void *ctx, ...)
{
	(void)flags, (void)nr, (void)accepts, (void)accepts_ctx;
	server = start_daemon(MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, answers, ctx,
			      MHD_OPTION_CONNECTION_LIMIT, 64u, MHD_OPTION_CONNECTION_TIMEOUT, 30u,
			      MHD_OPTION_END);
	return server;
}

static void *find_function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (strcmp(name, "MHD_start_daemon"))
		return found;
	start_daemon = (typeof(start_daemon))found;
	add_connection = (typeof(add_connection))dlsym(library, "MHD_add_connection");
	run_daemon = (typeof(run_daemon))dlsym(library, "MHD_run");
	CHECK(found && add_connection && run_daemon);
	return (void *)start_without_threads;
}

/* An answer that waits for the client to close would block this thread. */
static int wait_at(struct pollfd *p, nfds_t nr, int ms)
{
	if (ms < 0)
		shutdown(client, SHUT_WR);
	return poll(p, nr, ms);
}

/* ---- the client ---- */

/*
 * Append the received bytes. Return: their number; 0 if the server has closed the connection;
 * -EAGAIN.
 */
static ssize_t receive(struct tap_buf *out)
{
	ssize_t len, all = 0;
	char bytes[65536];

	while ((len = recv(client, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		tap_buf_add(out, bytes, (size_t)len);
		all += len;
	}
	return all || !len || errno == ECONNRESET ? all : -EAGAIN;
}

static void ask(const char *request, size_t len, struct tap_buf *out)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	unsigned int idle = 0;
	ssize_t got = 1;
	int ends[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
	client = ends[0];
	CHECK(add_connection(server, ends[1], (struct sockaddr *)&from, sizeof(from)) == MHD_YES);
	while (got && idle < 8 && out->len < MAX_ANSWER) {
		ssize_t sent = len ? send(client, request, len, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

		if (sent > 0) {
			request += sent;
			len -= (size_t)sent;
		}
		run_daemon(server);
		got = receive(out);
		idle = got > 0 ? 0 : idle + 1;
		if (idle == 4) /* there is no answer: close the sending side */
			shutdown(client, SHUT_WR);
	}
	close(client);
	for (unsigned int i = 0; i < 4; i++) /* let the server notice the end */
		run_daemon(server);
}

static void begin(void)
{
	static char path[64];
	static const char *paths[] = { path };
	static const struct tap_input_opts input = { .input = { paths, 1 } };
	struct tap_buf text = { 0 }, out = { 0 };
	const char *found, *name, *last = NULL;
	struct stat st;
	nlink_t threads;
	bool usage;

	CHECK(!stat("/proc/self/task", &st));
	threads = st.st_nlink;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd_create("fuzz_http", MFD_CLOEXEC));
	CHECK(!tap_write_all(atoi(strrchr(path, '/') + 1), recording,
			     (size_t)(recording_end - recording)));
	CHECK(!tap_view_open(&view, &input, 0, NULL, &usage, NULL) && !tap_view_start(view, NULL));
	CHECK(sscanf(tap_view_address(view), "http://127.0.0.1:%5[0-9]", port) == 1);
	tap_buf_printf(&text, "GET %s HTTP/1.1\r\nHost: localhost:%s\r\n\r\n",
		       strstr(tap_view_address(view), "/?"), port);
	ask(text.data, text.len, &out);
	found = strstr(tap_buf_str(&out), "token=");
	CHECK(found && sscanf(found, "token=%32s", token) == 1);
	for (unsigned int i = 0; (name = tap_html_report_name(i)) != NULL; i++)
		last = name;
	tap_buf_clear(&text);
	tap_buf_clear(&out);
	tap_buf_printf(&text,
		       "GET /report/%s HTTP/1.1\r\nHost: localhost:%s\r\nX-Token: %s\r\n\r\n", last,
		       port, token);
	ask(text.data, text.len, &out);
	CHECK(!strncmp(tap_buf_str(&out), "HTTP/1.1 200", 12));
	/* wait until the thread that makes reports has ended */
	while (!stat("/proc/self/task", &st) && st.st_nlink > threads)
		sched_yield();
	tap_buf_release(&text);
	tap_buf_release(&out);
}

/* Replace @T and @P. Return: true if the input contains @T. */
static bool fill_in(const char *data, size_t size, struct tap_buf *out)
{
	bool has_token = false;

	for (size_t i = 0; i < size; i++) {
		const char *name = data[i] != '@' || i + 1 == size ? NULL
				   : data[i + 1] == 'T'		   ? token
				   : data[i + 1] == 'P'		   ? port
								   : NULL;

		if (!name) {
			tap_buf_char(out, data[i]);
			continue;
		}
		tap_buf_puts(out, name);
		has_token |= name == token;
		i++;
	}
	return has_token;
}

static void check(const struct tap_buf *out, bool has_token)
{
	static const char first[] = "HTTP/1.", policy[] = "Content-Security-Policy: connect-src";
	static const char *const pages[] = { "HTTP/1.1 200", "HTTP/1.0 200", token };

	if (!out->len)
		return;
	CHECK(out->len > 12 && !memcmp(out->data, first, sizeof(first) - 1));
	for (unsigned int i = 0; i < 3 && !has_token; i++)
		CHECK(!memmem(out->data, out->len, pages[i], strlen(pages[i])));
	if (!memcmp(out->data + 9, "200", 3) || !memcmp(out->data + 9, "403", 3))
		CHECK(memmem(out->data, out->len, policy, sizeof(policy) - 1));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct tap_buf request = { 0 }, out = { 0 };
	unsigned int before;
	bool has_token;

	if (!view)
		begin();
	before = count_descriptors();
	has_token = fill_in((const char *)data, size, &request);
	ask(request.data, request.len, &out);
	check(&out, has_token);
	CHECK(count_descriptors() == before);
	tap_buf_release(&request);
	tap_buf_release(&out);
	return 0;
}
