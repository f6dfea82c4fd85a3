// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a guest's CPUs take turns at the processor that they have: looks at the
 * clock on CPU 0 for half a second while CPU 1 is busy, and prints how often it
 * stood still for more than 3 us.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000L

static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		perror("sched_setaffinity");
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NS + time.tv_nsec;
}

int main(void)
{
	long last, end;
	int gaps = 0;
	pid_t other = fork();

	if (!other) {
		pin(1);
		for (;;)
			;
	}
	pin(0);
	last = now();
	for (end = last + NS / 2; last < end;) {
		long time = now();

		gaps += time - last > 3000;
		last = time;
	}
	kill(other, SIGKILL);
	printf("%d\n", gaps);
	return 0;
}
