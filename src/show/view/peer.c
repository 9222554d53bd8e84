// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/view/peer.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ESTABLISHED 1u
#define NO_UID ((uid_t)-1)

/* Return the uid of the user who called sudo to run us: the browser runs as that user. */
static uid_t sudo_uid(void)
{
	const char *text = geteuid() ? NULL : getenv("SUDO_UID");
	unsigned int uid;

	return text && sscanf(text, "%u", &uid) == 1 ? uid : NO_UID;
}

static uid_t login_uid(void)
{
	FILE *f = geteuid() ? NULL : fopen("/proc/self/loginuid", "re");
	unsigned int uid;

	if (!f)
		return NO_UID;
	if (fscanf(f, "%u", &uid) != 1)
		uid = NO_UID;
	fclose(f);
	return uid;
}

static bool is_ours(uid_t uid)
{
	return uid != NO_UID &&
	       (uid == getuid() || uid == geteuid() || uid == sudo_uid() || uid == login_uid());
}

/*
 * Parse the line of the other end's socket, whose remote address is ours. The kernel prints an
 * address as the number that its bytes are in memory.
 */
static bool is_line_of(const char *line, const struct sockaddr_in *peer, uint16_t port, uid_t *uid)
{
	unsigned int local, local_port, remote, remote_port, state;

	return sscanf(line, " %*u: %8x:%4x %8x:%4x %2x %*x:%*x %*x:%*x %*x %u", &local, &local_port,
		      &remote, &remote_port, &state, uid) == 6 &&
	       local == peer->sin_addr.s_addr && local_port == ntohs(peer->sin_port) &&
	       remote == htonl(INADDR_LOOPBACK) && remote_port == port && state == ESTABLISHED;
}

bool tap_peer_is_ours(const struct sockaddr *peer, socklen_t len, uint16_t port)
{
	struct sockaddr_in from;
	uid_t uid = NO_UID;
	bool found = false;
	char line[512];
	FILE *f;

	if (len < sizeof(from) || peer->sa_family != AF_INET)
		return false;
	memcpy(&from, peer, sizeof(from));
	f = fopen("/proc/net/tcp", "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = is_line_of(line, &from, port, &uid);
	if (f)
		fclose(f);
	return found && is_ours(uid);
}
