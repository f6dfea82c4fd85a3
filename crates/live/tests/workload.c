// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload.c - what the recorder of workloads is tested with: tasks that each do one thing
 *
 * Each has a name by which the recording is searched. All are children of the first.
 *
 *	workload ROUNDS
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The kernel's struct sched_attr, with clamps. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

static int rounds;

static void must(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void pause_ms(int ms)
{
	struct timespec length = { 0, ms * 1000000L };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
}

/* Runs @work in a child of this name. */
static void begin(const char *name, void (*work)(void *), void *argument)
{
	pid_t child = fork();

	must(child >= 0, "fork");
	if (child)
		return;
	prctl(PR_SET_NAME, name);
	work(argument);
	exit(0);
}

static void timer(void *unused)
{
	struct timespec until;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &until);
	for (i = 0; i < rounds; i++) {
		until.tv_nsec += 4000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

static void yielder(void *unused)
{
	int i;

	for (i = 0; i < rounds; i++)
		sched_yield();
}

static void reader(void *ends)
{
	char byte;
	int i;

	for (i = 0; i < rounds; i++)
		must(read(((int *)ends)[0], &byte, 1) == 1, "read");
}

/* The reader sleeps by then. */
static void writer(void *ends)
{
	int i;

	for (i = 0; i < rounds; i++) {
		pause_ms(2);
		must(write(((int *)ends)[1], "x", 1) == 1, "write");
	}
}

static void receiver(void *ends)
{
	char bytes[7];
	int i;

	for (i = 0; i < rounds; i++)
		must(recv(((int *)ends)[0], bytes, sizeof(bytes), MSG_WAITALL) == 7, "recv");
}

static void sender(void *ends)
{
	int i;

	for (i = 0; i < rounds; i++) {
		pause_ms(2);
		must(send(((int *)ends)[1], "1234567", 7, 0) == 7, "send");
	}
}

static void futex_waiter(void *word)
{
	int i;

	for (i = 0; i < rounds; i++)
		while (__atomic_load_n((int *)word, __ATOMIC_ACQUIRE) <= i)
			syscall(SYS_futex, word, FUTEX_WAIT, i, NULL, NULL, 0);
}

static void futex_waker(void *word)
{
	int i;

	for (i = 0; i < rounds; i++) {
		pause_ms(2);
		__atomic_add_fetch((int *)word, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void event_reader(void *descriptor)
{
	uint64_t count;
	int i;

	for (i = 0; i < rounds; i++)
		must(read(*(int *)descriptor, &count, 8) == 8, "eventfd");
}

static void event_writer(void *descriptor)
{
	uint64_t one = 1;
	int i;

	for (i = 0; i < rounds; i++) {
		pause_ms(2);
		must(write(*(int *)descriptor, &one, 8) == 8, "eventfd");
	}
}

static void poller(void *ends)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(0), i;
	char byte;

	must(epoll_ctl(set, EPOLL_CTL_ADD, ((int *)ends)[0], &event) == 0, "epoll_ctl");
	for (i = 0; i < rounds; i++) {
		must(epoll_wait(set, &event, 1, -1) == 1, "epoll_wait");
		must(read(((int *)ends)[0], &byte, 1) == 1, "read");
	}
}

static void changer(void *unused)
{
	struct attributes clamps = {
		.size = sizeof(clamps), .nice = 5, .flags = 0x60, .util_min = 100, .util_max = 500,
	};
	struct sched_param fifo = { 10 };
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	must(sched_setaffinity(0, sizeof(first), &first) == 0, "sched_setaffinity");
	must(setpriority(PRIO_PROCESS, 0, 5) == 0, "setpriority");
	/* Not every kernel has clamps. */
	syscall(SYS_sched_setattr, 0, &clamps, 0);
	pause_ms(2);
	must(sched_setscheduler(0, SCHED_FIFO, &fifo) == 0, "sched_setscheduler");
	prctl(PR_SET_NAME, "changed");
	pause_ms(2);
}

int main(int argc, char **argv)
{
	int pipe_ends[2], poll_ends[2], socket_ends[2], event = eventfd(0, EFD_SEMAPHORE);
	int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	rounds = argc > 1 ? atoi(argv[1]) : 50;
	must(pipe(pipe_ends) == 0 && pipe(poll_ends) == 0, "pipe");
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, socket_ends) == 0, "socketpair");
	must(event >= 0 && word != MAP_FAILED, "eventfd, mmap");
	begin("timer", timer, NULL);
	begin("yielder", yielder, NULL);
	begin("reader", reader, pipe_ends);
	begin("writer", writer, pipe_ends);
	begin("receiver", receiver, socket_ends);
	begin("sender", sender, socket_ends);
	begin("futex_waiter", futex_waiter, word);
	begin("futex_waker", futex_waker, word);
	begin("event_reader", event_reader, &event);
	begin("event_writer", event_writer, &event);
	begin("poller", poller, poll_ends);
	begin("poll_writer", writer, poll_ends);
	begin("changer", changer, NULL);
	while (wait(NULL) > 0)
		;
	return 0;
}
