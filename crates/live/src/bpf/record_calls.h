/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record_calls.h - system calls by which the tasks of the workload wait for each other
 *
 * Sleeps are recorded of all tasks, other calls of the chosen tasks only. These are in a map by
 * pid: the loader enters those that exist, and a fork adds the child. The object of a call is a
 * number that is the same for all tasks that use the same object. Its highest byte is the kind of
 * object; the rest is an inode number, or a hash of what identifies it.
 */
#ifndef ALIGHT_LIVE_RECORD_CALLS_H
#define ALIGHT_LIVE_RECORD_CALLS_H

/* What is waited on. */
enum workload_object {
	OBJECT_PIPE = 1,
	OBJECT_UNIX,
	OBJECT_INET,
	OBJECT_FUTEX,
	OBJECT_EVENTFD,
	OBJECT_POLL,
};

enum workload_call {
	CALL_PIPE_READ,
	CALL_PIPE_WRITE,
	CALL_SOCKET_RECEIVE,
	CALL_SOCKET_SEND,
	CALL_FUTEX_WAIT,
	CALL_FUTEX_WAKE,
	CALL_EVENTFD_READ,
	CALL_EVENTFD_WRITE,
	CALL_POLL,
	CALL_SLEEP,
	CALL_SLEEP_UNTIL,
};

#define AF_INET			2
#define HRTIMER_RELATIVE	0x01	/* HRTIMER_MODE_REL, include/linux/hrtimer.h */

#include "record_rings.h"
#include <bpf/bpf_endian.h>

struct inode___calls {
	unsigned long i_ino;
} KERNEL_TYPE;

struct file___calls {
	struct inode___calls *f_inode;
	void *private_data;
} KERNEL_TYPE;

struct kiocb {
	struct file___calls *ki_filp;
} KERNEL_TYPE;

struct iov_iter {
	unsigned long count;
} KERNEL_TYPE;

struct eventfd_ctx {
	int id;
} KERNEL_TYPE;

struct in6_addr {
	u32 words[4];
};

struct sock_common___calls {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
} KERNEL_TYPE;

struct sock___calls {
	struct sock_common___calls __sk_common;
	struct socket *sk_socket;
} KERNEL_TYPE;

struct unix_sock {
	struct sock___calls *peer;
} KERNEL_TYPE;

struct socket {
	struct sock___calls *sk;
} KERNEL_TYPE;

struct socket_alloc {
	struct inode___calls vfs_inode;
} KERNEL_TYPE;

struct msghdr;
struct sock;
struct file;
struct timespec64;
struct epoll_event;
struct pollfd;

/* Set by the loader before loading. */
const volatile u32 calls;
/* The flag of futex_wait() and futex_wake() that says "shared between processes". */
const volatile u32 futex_shared = 0x10;
/* Whether futex_wake() has one more argument before the number, as since 7.x. */
const volatile u32 futex_pops;

/* The next child of this process is the first task of the workload. */
u32 adopter;

/* Tasks of the workload, by their numbers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, u32);
	__type(value, u8);
} chosen SEC(".maps");

static __always_inline void call_forked(u32 parent_process, u32 parent, u32 child)
{
	u8 yes = 1;

	if (!calls)
		return;
	if (bpf_map_lookup_elem(&chosen, &parent)) {
		bpf_map_update_elem(&chosen, &child, &yes, BPF_ANY);
	} else if (adopter && parent_process == adopter) {
		adopter = 0;
		bpf_map_update_elem(&chosen, &child, &yes, BPF_ANY);
	}
}

static __always_inline void call_exited(u32 pid)
{
	if (calls)
		bpf_map_delete_elem(&chosen, &pid);
}

static __always_inline u64 object_of(u8 kind, u64 number)
{
	return (u64)kind << 56 | (number & 0x00ffffffffffffffull);
}

static __always_inline u64 mixed(u64 a, u64 b)
{
	a = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

static __always_inline int call_begins(u8 call, u64 object, u32 count)
{
	u32 pid = (u32)bpf_get_current_pid_tgid();

	if (!bpf_map_lookup_elem(&chosen, &pid))
		return 0;
	return tell(WORKLOAD_CALL_BEGIN, call, pid, count, 0, 0, object);
}

static __always_inline int call_ends(void *context, u8 call)
{
	u32 pid = (u32)bpf_get_current_pid_tgid();
	u64 result = 0;

	if (!bpf_map_lookup_elem(&chosen, &pid))
		return 0;
	bpf_get_func_ret(context, &result);
	return tell(WORKLOAD_CALL_END, call, pid, (u32)result, 0, 0, 0);
}

#define CALL_END(name, function, call)		\
SEC("fexit/" function)				\
int name(void *context)				\
{						\
	return call_ends(context, call);	\
}

/* ---- pipes: the object is the inode of the pipe ---- */

static __always_inline u64 pipe_of(struct kiocb *request)
{
	return object_of(OBJECT_PIPE, BPF_CORE_READ(request, ki_filp, f_inode, i_ino));
}

SEC("fentry/anon_pipe_read")
int BPF_PROG(call_pipe_read, struct kiocb *request, struct iov_iter *to)
{
	return call_begins(CALL_PIPE_READ, pipe_of(request), (u32)BPF_CORE_READ(to, count));
}

SEC("fentry/anon_pipe_write")
int BPF_PROG(call_pipe_write, struct kiocb *request, struct iov_iter *from)
{
	return call_begins(CALL_PIPE_WRITE, pipe_of(request), (u32)BPF_CORE_READ(from, count));
}

CALL_END(call_pipe_read_end, "anon_pipe_read", CALL_PIPE_READ)
CALL_END(call_pipe_write_end, "anon_pipe_write", CALL_PIPE_WRITE)

/* ---- Unix sockets: the object is the inode of the receiving socket ---- */

static __always_inline u64 socket_of(struct socket *s)
{
	return object_of(OBJECT_UNIX, BPF_CORE_READ((struct socket_alloc *)s, vfs_inode.i_ino));
}

static __always_inline u64 peer_of(struct socket *s)
{
	struct unix_sock *own = (void *)BPF_CORE_READ(s, sk);
	struct sock___calls *peer = BPF_CORE_READ(own, peer);
	struct socket *other = peer ? BPF_CORE_READ(peer, sk_socket) : NULL;

	return other ? socket_of(other) : object_of(OBJECT_UNIX, 0);
}

SEC("fentry/unix_stream_sendmsg")
int BPF_PROG(call_unix_send, struct socket *s, struct msghdr *message, unsigned long length)
{
	return call_begins(CALL_SOCKET_SEND, peer_of(s), (u32)length);
}

SEC("fentry/unix_stream_recvmsg")
int BPF_PROG(call_unix_receive, struct socket *s, struct msghdr *message, unsigned long length)
{
	return call_begins(CALL_SOCKET_RECEIVE, socket_of(s), (u32)length);
}

SEC("fentry/unix_dgram_sendmsg")
int BPF_PROG(call_datagram_send, struct socket *s, struct msghdr *message, unsigned long length)
{
	return call_begins(CALL_SOCKET_SEND, peer_of(s), (u32)length);
}

SEC("fentry/unix_dgram_recvmsg")
int BPF_PROG(call_datagram_receive, struct socket *s, struct msghdr *message, unsigned long length)
{
	return call_begins(CALL_SOCKET_RECEIVE, socket_of(s), (u32)length);
}

CALL_END(call_unix_send_end, "unix_stream_sendmsg", CALL_SOCKET_SEND)
CALL_END(call_unix_receive_end, "unix_stream_recvmsg", CALL_SOCKET_RECEIVE)
CALL_END(call_datagram_send_end, "unix_dgram_sendmsg", CALL_SOCKET_SEND)
CALL_END(call_datagram_receive_end, "unix_dgram_recvmsg", CALL_SOCKET_RECEIVE)

/* ---- TCP: the object is sender and receiver, the same at both ends of a connection ---- */

static __always_inline u64 flow_of(struct sock *socket, int sends)
{
	struct sock___calls *s = (void *)socket;
	u64 far = bpf_ntohs(BPF_CORE_READ(s, __sk_common.skc_dport));
	u64 near = BPF_CORE_READ(s, __sk_common.skc_num);

	if (BPF_CORE_READ(s, __sk_common.skc_family) == AF_INET) {
		far = mixed(far, BPF_CORE_READ(s, __sk_common.skc_daddr));
		near = mixed(near, BPF_CORE_READ(s, __sk_common.skc_rcv_saddr));
	} else {
		/* The last four bytes: of an IPv4 address within IPv6, they are that address. */
		struct in6_addr address = {};

		bpf_core_read(&address, sizeof(address), &s->__sk_common.skc_v6_daddr);
		far = mixed(far, address.words[3]);
		bpf_core_read(&address, sizeof(address), &s->__sk_common.skc_v6_rcv_saddr);
		near = mixed(near, address.words[3]);
	}
	return object_of(OBJECT_INET, sends ? mixed(near, far) : mixed(far, near));
}

SEC("fentry/tcp_sendmsg")
int BPF_PROG(call_tcp_send, struct sock *s, struct msghdr *message, unsigned long length)
{
	return call_begins(CALL_SOCKET_SEND, flow_of(s, 1), (u32)length);
}

SEC("fentry/tcp_recvmsg")
int BPF_PROG(call_tcp_receive, struct sock *s, struct msghdr *message, unsigned long length)
{
	return call_begins(CALL_SOCKET_RECEIVE, flow_of(s, 0), (u32)length);
}

CALL_END(call_tcp_send_end, "tcp_sendmsg", CALL_SOCKET_SEND)
CALL_END(call_tcp_receive_end, "tcp_recvmsg", CALL_SOCKET_RECEIVE)

/* ---- futexes: the object is the address, with the process if the futex is private ---- */

static __always_inline u64 futex_of(u64 address, u32 flags)
{
	u64 process = flags & futex_shared ? 0 : bpf_get_current_pid_tgid() >> 32;

	return object_of(OBJECT_FUTEX, mixed(address, process));
}

SEC("fentry/futex_wait")
int BPF_PROG(call_futex_wait, u64 address, u32 flags, u32 value)
{
	return call_begins(CALL_FUTEX_WAIT, futex_of(address, flags), 0);
}

SEC("fentry/futex_wake")
int BPF_PROG(call_futex_wake, u64 address, u32 flags, u64 third, u64 fourth)
{
	return call_begins(CALL_FUTEX_WAKE, futex_of(address, flags),
			   (u32)(futex_pops ? fourth : third));
}

CALL_END(call_futex_wait_end, "futex_wait", CALL_FUTEX_WAIT)
CALL_END(call_futex_wake_end, "futex_wake", CALL_FUTEX_WAKE)

/* ---- eventfd: the object is its number in the kernel ---- */

static __always_inline u64 eventfd_of(struct file___calls *file)
{
	struct eventfd_ctx *event = BPF_CORE_READ(file, private_data);

	return object_of(OBJECT_EVENTFD, BPF_CORE_READ(event, id));
}

SEC("fentry/eventfd_read")
int BPF_PROG(call_eventfd_read, struct kiocb *request)
{
	return call_begins(CALL_EVENTFD_READ, eventfd_of(BPF_CORE_READ(request, ki_filp)), 8);
}

SEC("fentry/eventfd_write")
int BPF_PROG(call_eventfd_write, struct file *file)
{
	return call_begins(CALL_EVENTFD_WRITE, eventfd_of((void *)file), 8);
}

CALL_END(call_eventfd_read_end, "eventfd_read", CALL_EVENTFD_READ)
CALL_END(call_eventfd_write_end, "eventfd_write", CALL_EVENTFD_WRITE)

/* ---- polls: the object is process and descriptor of an epoll, else 0 ---- */

SEC("fentry/do_epoll_wait")
int BPF_PROG(call_epoll, int descriptor)
{
	u64 process = bpf_get_current_pid_tgid() >> 32;

	return call_begins(CALL_POLL, object_of(OBJECT_POLL, process << 24 | (u32)descriptor), 0);
}

SEC("fentry/do_sys_poll")
int BPF_PROG(call_poll, struct pollfd *descriptors, unsigned int number)
{
	return call_begins(CALL_POLL, object_of(OBJECT_POLL, 0), number);
}

SEC("fentry/core_sys_select")
int BPF_PROG(call_select, int number)
{
	return call_begins(CALL_POLL, object_of(OBJECT_POLL, 0), number);
}

CALL_END(call_epoll_end, "do_epoll_wait", CALL_POLL)
CALL_END(call_poll_end, "do_sys_poll", CALL_POLL)
CALL_END(call_select_end, "core_sys_select", CALL_POLL)

/* ---- sleeps: the object is the length, or the end on the events' clock ---- */

static __always_inline int sleep_call(u32 mode, int clock)
{
	if (mode & HRTIMER_RELATIVE)
		return CALL_SLEEP;
	/* A time on another clock cannot be compared with the events. */
	return clock == CLOCK_MONOTONIC ? CALL_SLEEP_UNTIL : -1;
}

/*
 * Sleeps are recorded of all tasks, and always: the length of a sleep alone does not tell a pause
 * from a wait for a point in time.
 */
static __always_inline int sleep_told(u8 kind, u32 mode, int clock, u32 result, u64 object)
{
	int call = sleep_call(mode, clock);

	if (call < 0)
		return 0;
	return tell(kind, (u8)call, pid_of(bpf_get_current_task_btf()), result, 0, 0, object);
}

SEC("fentry/hrtimer_nanosleep")
int BPF_PROG(called_sleep, u64 ns, u32 mode, int clock)
{
	return sleep_told(WORKLOAD_CALL_BEGIN, mode, clock, 0, ns);
}

SEC("fexit/hrtimer_nanosleep")
int BPF_PROG(called_sleep_end, u64 ns, u32 mode, int clock, long result)
{
	return sleep_told(WORKLOAD_CALL_END, mode, clock, (u32)result, 0);
}

#endif
