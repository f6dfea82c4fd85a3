// SPDX-License-Identifier: GPL-2.0-only
/*
 * strain.c - loads that judge the scheduler while they strain it
 *
 *	strain hogs THREADS MS [CPU-CPU]
 *		spinning threads, restricted to these CPUs. Prints the longest time
 *		that one of them did not run, the least and the most processor time
 *		that one got, and the time that their CPUs idled meanwhile.
 *	strain sleeper RUN PERIOD MS
 *		one thread that runs for RUN us of each PERIOD us. Prints its processor
 *		time, how long it all took, and how long after it was due it ran: the
 *		mean and the longest of all times that it slept.
 *	strain affinity THREADS MS
 *		threads that run and sleep while their masks change all the time.
 *		Prints the changes, and how often a thread found itself off its mask.
 *	strain threads NUMBER
 *		as many threads at once as asked for, each of which sleeps, waits and is woken with
 *		all others.
 *		Prints how many were created and how many finished.
 *	strain readers THREADS MS
 *		SCHED_IDLE threads, one to each CPU in turn, that are mostly in an RCU reader's
 *		section, as they look up a long path. Prints how many grace periods a
 *		normal thread saw end meanwhile, and the longest.
 *	strain offmask MS
 *		watches all tasks of the machine from outside, in /proc. Prints how
 *		many were looked at, and how many ran off their mask.
 *
 * Each prints one line of NAME=NUMBER words. Times are in microseconds.
 * Exit status 0 unless the load itself could not be made.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES	(64 << 10)

static atomic_int over;

static uint64_t clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static uint64_t now_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

static void sleep_us(uint64_t us)
{
	struct timespec time = {
		.tv_sec = (time_t)(us / 1000000),
		.tv_nsec = (long)(us % 1000000 * 1000),
	};

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static void fail(const char *what)
{
	fprintf(stderr, "strain: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *allocate(size_t number, size_t size)
{
	void *memory = calloc(number, size);

	if (!memory)
		fail("memory");
	return memory;
}

/* Starts a thread with a small stack; 0 or the error. */
static int start(pthread_t *thread, void *(*body)(void *), void *argument)
{
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(thread, &attributes, body, argument);
	pthread_attr_destroy(&attributes);
	return error;
}

static uint32_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33);
}

/* ---- hogs ---- */

struct hog {
	pthread_t thread;
	uint64_t longest;	/* us that it did not run */
	uint64_t ran;		/* us of processor time */
};

static void *hog_body(void *argument)
{
	struct hog *hog = argument;
	uint64_t last = now_us(), now;

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		now = now_us();
		if (now - last > hog->longest)
			hog->longest = now - last;
		last = now;
	}
	/* Who waited until the end has waited. */
	now = now_us();
	if (now - last > hog->longest)
		hog->longest = now - last;
	hog->ran = clock_us(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* Idle time of CPUs @first to @last since the boot; what they wait for I/O counts. */
static uint64_t idle_us(int first, int last)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long long user, nice, system, idle, wait;
	uint64_t ticks = 0;
	char line[4096];
	int cpu;

	if (!file)
		fail("/proc/stat");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu", &cpu, &user, &nice, &system,
			   &idle, &wait) == 6 && cpu >= first && cpu <= last)
			ticks += idle + wait;
	}
	fclose(file);
	return ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

static int hogs(int threads, uint64_t ms, const char *cpus)
{
	int first = 0, last = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1, i;
	struct hog *hog = allocate((size_t)threads, sizeof(*hog));
	uint64_t longest = 0, least = UINT64_MAX, most = 0, idle;

	if (cpus) {
		cpu_set_t mask;

		if (sscanf(cpus, "%d-%d", &first, &last) != 2 || first < 0 || last >= CPU_SETSIZE) {
			errno = EINVAL;
			fail("CPUs, such as 0-1");
		}
		CPU_ZERO(&mask);
		for (i = first; i <= last; i++)
			CPU_SET(i, &mask);
		if (sched_setaffinity(0, sizeof(mask), &mask))
			fail("sched_setaffinity");
	}
	for (i = 0; i < threads; i++) {
		errno = start(&hog[i].thread, hog_body, &hog[i]);
		if (errno)
			fail("pthread_create");
	}
	sleep_us(200000);	/* all are there */
	idle = idle_us(first, last);
	sleep_us(ms * 1000);
	idle = idle_us(first, last) - idle;
	atomic_store(&over, 1);
	for (i = 0; i < threads; i++) {
		pthread_join(hog[i].thread, NULL);
		if (hog[i].longest > longest)
			longest = hog[i].longest;
		if (hog[i].ran < least)
			least = hog[i].ran;
		if (hog[i].ran > most)
			most = hog[i].ran;
	}
	printf("longest=%llu least=%llu most=%llu idle=%llu\n", (unsigned long long)longest,
	       (unsigned long long)least, (unsigned long long)most, (unsigned long long)idle);
	return 0;
}

/* ---- readers ---- */

static void *reader_body(void *argument)
{
	const struct sched_param none = { 0 };
	char path[PATH_MAX];
	size_t at;

	(void)argument;
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		fail("sched_setscheduler");
	for (at = 0; at < sizeof(path) - 1; at++)
		path[at] = at % 2 ? '.' : '/';
	path[at] = 0;
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		if (access(path, F_OK))
			fail("a long path");
	}
	return NULL;
}

static int readers(int threads, uint64_t ms)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), i;
	pthread_t *thread = allocate((size_t)threads, sizeof(*thread));
	uint64_t begun, last, now, longest = 0, periods = 0;
	const struct sched_param none = { 0 };

	for (i = 0; i < threads; i++) {
		cpu_set_t mask;

		errno = start(&thread[i], reader_body, NULL);
		if (errno)
			fail("pthread_create");
		CPU_ZERO(&mask);
		CPU_SET(i % cpus, &mask);
		errno = pthread_setaffinity_np(thread[i], sizeof(mask), &mask);
		if (errno)
			fail("pthread_setaffinity_np");
	}
	begun = last = now_us();
	while (last - begun < ms * 1000) {
		/* It waits for a grace period. */
		if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
			fail("membarrier");
		now = now_us();
		if (now - last > longest)
			longest = now - last;
		last = now;
		periods++;
	}
	atomic_store(&over, 1);
	for (i = 0; i < threads; i++) {
		/* So that it does not take as long once more to end. */
		pthread_setschedparam(thread[i], SCHED_OTHER, &none);
		pthread_join(thread[i], NULL);
	}
	printf("periods=%llu longest=%llu\n", (unsigned long long)periods,
	       (unsigned long long)longest);
	return 0;
}

/* ---- sleeper ---- */

static int sleeper(uint64_t run, uint64_t period, uint64_t ms)
{
	uint64_t begun = now_us(), due = begun, sum = 0, longest = 0, sleeps = 0, ran = 0, now;

	while (now_us() - begun < ms * 1000) {
		ran += run;
		while (clock_us(CLOCK_THREAD_CPUTIME_ID) < ran)
			;
		due += period;
		now = now_us();
		if (now >= due)
			continue;	/* it is late, and goes on until it has caught up */
		sleep_us(due - now);
		now = now_us() - due;
		sum += now;
		if (now > longest)
			longest = now;
		sleeps++;
	}
	printf("ran=%llu took=%llu average=%llu longest=%llu\n",
	       (unsigned long long)clock_us(CLOCK_THREAD_CPUTIME_ID),
	       (unsigned long long)(now_us() - begun),
	       (unsigned long long)(sleeps ? sum / sleeps : 0), (unsigned long long)longest);
	return 0;
}

/* ---- affinity ---- */

/*
 * A mask and the number of its change: odd while it changes. A thread that reads
 * the same even number before and after it asked where it runs was there under
 * that mask, because sched_setaffinity() returns only when the thread has moved.
 */
struct restricted {
	pthread_t thread;
	atomic_int tid;
	atomic_uint change;
	atomic_ullong mask;	/* of the first 64 CPUs */
	uint64_t rounds;
	uint64_t off;
	uint64_t seed;
};

static void *restricted_body(void *argument)
{
	struct restricted *self = argument;

	atomic_store(&self->tid, gettid());
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		unsigned int change = atomic_load(&self->change);
		unsigned long long mask = atomic_load(&self->mask);
		int cpu = sched_getcpu();

		if (!(change & 1) && change && atomic_load(&self->change) == change &&
		    !(mask >> cpu & 1))
			self->off++;
		self->rounds++;
		if (random_next(&self->seed) % 64 == 0)
			sleep_us(random_next(&self->seed) % 2000);
		else if (random_next(&self->seed) % 64 == 0)
			sched_yield();
	}
	return NULL;
}

static int affinity(int threads, uint64_t ms)
{
	struct restricted *all = allocate((size_t)threads, sizeof(*all));
	uint64_t end = now_us() + ms * 1000, seed = 1, changes = 0, off = 0, idle = 0;
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), i;

	if (cpus > 64)
		cpus = 64;
	for (i = 0; i < threads; i++) {
		all[i].seed = (uint64_t)i + 1;
		errno = start(&all[i].thread, restricted_body, &all[i]);
		if (errno)
			fail("pthread_create");
	}
	for (i = 0; i < threads; i++)
		while (!atomic_load(&all[i].tid))
			sleep_us(100);
	while (now_us() < end) {
		struct restricted *one = &all[random_next(&seed) % (uint32_t)threads];
		unsigned long long bits = 0;
		cpu_set_t mask;

		CPU_ZERO(&mask);
		for (i = 0; i < cpus; i++) {
			if (random_next(&seed) % 3 == 0) {
				CPU_SET(i, &mask);
				bits |= 1ull << i;
			}
		}
		if (!bits) {
			CPU_SET(0, &mask);
			bits = 1;
		}
		atomic_fetch_add(&one->change, 1);
		atomic_store(&one->mask, bits);
		if (sched_setaffinity(atomic_load(&one->tid), sizeof(mask), &mask))
			fail("sched_setaffinity");
		atomic_fetch_add(&one->change, 1);
		changes++;
	}
	atomic_store(&over, 1);
	for (i = 0; i < threads; i++) {
		pthread_join(all[i].thread, NULL);
		off += all[i].off;
		idle += all[i].rounds == 0;
	}
	printf("changes=%llu off=%llu never_ran=%llu\n", (unsigned long long)changes,
	       (unsigned long long)off, (unsigned long long)idle);
	return 0;
}

/* ---- threads ---- */

static atomic_int finished, released;

static void *sleeper_body(void *argument)
{
	(void)argument;
	sleep_us(1000);
	while (!atomic_load(&released))
		syscall(SYS_futex, &released, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	atomic_fetch_add(&finished, 1);
	return NULL;
}

static int many(int number)
{
	pthread_t *thread = allocate((size_t)number, sizeof(*thread));
	int created = 0, i;

	while (created < number && !start(&thread[created], sleeper_body, NULL))
		created++;
	atomic_store(&released, 1);
	syscall(SYS_futex, &released, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	for (i = 0; i < created; i++)
		pthread_join(thread[i], NULL);
	printf("created=%d finished=%d\n", created, atomic_load(&finished));
	return 0;
}

/* ---- offmask ---- */

/* What /proc/PID/task/TID says: 1 if the task runs or is queued, with its CPU and its mask as text. */
static int look(const char *task, int *cpu, char *mask, size_t size)
{
	char path[600], line[4096], *at;
	FILE *file;
	char state = 0;
	int field;

	snprintf(path, sizeof(path), "%s/status", task);
	file = fopen(path, "r");
	if (!file)
		return 0;
	mask[0] = 0;
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "Cpus_allowed_list:", 18))
			snprintf(mask, size, "%s", line + 19);
	fclose(file);
	snprintf(path, sizeof(path), "%s/stat", task);
	file = fopen(path, "r");
	if (!file)
		return 0;
	at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	if (!at)
		return 0;
	at++;
	/* Field 3 is the state, field 39 the processor. */
	for (field = 3; field <= 39 && (at = strchr(at, ' ')); field++) {
		at++;
		if (field == 3)
			state = *at;
		if (field == 39)
			*cpu = atoi(at);
	}
	return state == 'R' && mask[0];
}

static int listed(const char *list, int cpu)
{
	int first, last, length;

	while (*list && *list != '\n') {
		if (sscanf(list, "%d-%d%n", &first, &last, &length) < 2) {
			if (sscanf(list, "%d%n", &first, &length) < 1)
				return 0;
			last = first;
		}
		if (cpu >= first && cpu <= last)
			return 1;
		list += length;
		if (*list == ',')
			list++;
	}
	return 0;
}

/*
 * A mask may change between two looks, and a task may be on its way. Off its
 * mask is only who is seen off it a number of times, with one mask.
 */
static int off_mask(const char *task)
{
	char before[4096], now[4096];
	int cpu, looks;

	if (!look(task, &cpu, before, sizeof(before)))
		return -1;
	for (looks = 0; !listed(before, cpu); looks++) {
		if (looks == 5) {
			fprintf(stderr, "strain: %s is on CPU %d, allowed are %s", task, cpu, before);
			return 1;
		}
		sleep_us(10000);
		if (!look(task, &cpu, now, sizeof(now)) || strcmp(before, now))
			return -1;
	}
	return 0;
}

static int offmask(uint64_t ms)
{
	uint64_t end = now_us() + ms * 1000, checked = 0, off = 0;

	while (now_us() < end) {
		DIR *proc = opendir("/proc");
		struct dirent *process, *thread;

		if (!proc)
			fail("/proc");
		while ((process = readdir(proc))) {
			char path[300];
			DIR *tasks;

			if (process->d_name[0] < '0' || process->d_name[0] > '9')
				continue;
			snprintf(path, sizeof(path), "/proc/%s/task", process->d_name);
			tasks = opendir(path);
			if (!tasks)
				continue;	/* it has ended */
			while ((thread = readdir(tasks))) {
				char task[600];
				int result;

				if (thread->d_name[0] == '.')
					continue;
				snprintf(task, sizeof(task), "%s/%s", path, thread->d_name);
				result = off_mask(task);
				checked += result >= 0;
				off += result > 0;
			}
			closedir(tasks);
		}
		closedir(proc);
	}
	printf("checked=%llu off=%llu\n", (unsigned long long)checked, (unsigned long long)off);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0;
	uint64_t ms = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

	if (!strcmp(what, "hogs") && number > 0 && ms)
		return hogs(number, ms, argc > 4 ? argv[4] : NULL);
	if (!strcmp(what, "sleeper") && number > 0 && ms && argc > 4)
		return sleeper((uint64_t)number, ms, strtoull(argv[4], NULL, 10));
	if (!strcmp(what, "affinity") && number > 0 && ms)
		return affinity(number, ms);
	if (!strcmp(what, "threads") && number > 0)
		return many(number);
	if (!strcmp(what, "readers") && number > 0 && ms)
		return readers(number, ms);
	if (!strcmp(what, "offmask") && number > 0)
		return offmask((uint64_t)number);
	fprintf(stderr, "strain: bad command line; see the head of strain.c\n");
	return 2;
}
