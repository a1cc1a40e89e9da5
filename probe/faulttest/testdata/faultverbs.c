// A verbs library of two devices, one of which has the fault that the environment
// names: FAULT_CALL=ibv_reg_mr FAULT=crash; FAULT_CALL=dlopen is in its constructor. FAULT_DEVICE ends the devices' names:
// their locks are the machine's. IDENTITY says what becomes of the devices after IDENTITY_AFTER
// processes: swap, rename, vanish; other: the second one has another GUID; late: the first one's GUID is another from the second time on that it is
// asked while it is open; inner: it is another from the first time on, and the list's is not. IDENTITY_GUID=zero or same: what all of them have. SLOW=ibv_query_port makes that call of either
// device take SLOW_MS milliseconds. It has the layout of infiniband/verbs.h
// as far as rdmaprobe looks, and no device behind it. WIRE=ok gives it a wire, which
// leads to the queue pairs of every process with the same FAULT_DEVICE; see wire.h.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct device { void *ops[2]; int32_t node_type, transport_type; char name[64], dev_name[64], dev_path[256], ibdev_path[256]; };
struct context { struct device *device; void *ops[32]; int32_t cmd_fd; char rest[128]; };
struct object { struct context *context; uint64_t words[48]; };

static struct device devices[2];

// How many processes had the library before: each leaves a byte.
static int others(void)
{
	static int n = -1;

	if (n < 0) {
		int fd = open("processes", O_WRONLY | O_CREAT | O_APPEND, 0600);
		n = lseek(fd, 0, SEEK_END);
		(void)!write(fd, "x", 1);
		close(fd);
	}
	return n;
}

// Whether the devices are now as IDENTITY has it.
static int now(const char *what)
{
	const char *want = getenv("IDENTITY");

	return want && !strcmp(want, what) && others() >= atoi(getenv("IDENTITY_AFTER"));
}

// Which device is behind an entry of the list, by its GUID.
static int behind(struct device *d) { return (d - devices) ^ now("swap"); }

static uint64_t guid_of(struct device *d, uint64_t first)
{
	const char *all = getenv("IDENTITY_GUID");

	if (all)
		return strcmp(all, "zero") ? first : 0;
	return first + ((uint64_t)behind(d) << 56) + (d == &devices[1] && now("other") ? 0x7700 : 0);
}

// What the fault makes of a call: 0 = it goes on.
enum { NONE, NIL, JUNK, UNSUPPORTED, OFFSET };

static void flood(int fd, const char *line, long times)
{
	static char block[1 << 16];
	size_t n = strlen(line);

	for (size_t i = 0; i < sizeof block; i++)
		block[i] = line[i % n];
	while (times-- > 0)
		if (write(fd, block, sizeof block) < 0)
			return;
}

// Writes and processes, once in a process: some calls are made often. The call
// itself then goes on.
static void disturb(const char *fault)
{
	static int done;

	if (done++)
		return;
	if (!strcmp(fault, "gibibyte") && open("flooded", O_CREAT | O_EXCL, 0600) >= 0) { // half on either stream, once in a run
		flood(1, "0123456789abcde\n", 1 << 13);
		flood(2, "edcba9876543210\n", 1 << 13);
	}
	if (!strcmp(fault, "fd3")) // messages, for all that it knows
		flood(3, "{\"t\":\"done\",\"b\":null}\n", 1 << 9);
	if (!strcmp(fault, "signals")) { // all handlers of the program are gone, and this thread hears nothing
		sigset_t all;
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_DFL);
	}
	if (!strcmp(fault, "twin") && fork()) // a copy of the process, which goes on from here before this one does
		usleep(100000);
	if (!strncmp(fault, "orphan", 6)) { // forked twice, in a session of its own, and deaf
		if (!fork()) {
			setsid();
			signal(SIGTERM, SIG_IGN);
			if (fork())
				_exit(0);
			FILE *f = fopen("daemon.pid.new", "w");
			if (f)
				fprintf(f, "%d", getpid()), fclose(f), rename("daemon.pid.new", "daemon.pid");
			alarm(120);
			for (;;)
				pause();
		}
		while (access("daemon.pid", F_OK))
			usleep(1000);
		if (!strcmp(fault, "orphan_crash"))
			*(volatile int *)8 = 1;
		if (!strcmp(fault, "orphan_hang"))
			for (;;)
				pause();
	}
	if (!strcmp(fault, "grandchild") || !strcmp(fault, "daemon")) {
		int away[2];
		char none;
		if (pipe(away))
			abort();
		if (!fork()) {
			if (!strcmp(fault, "daemon")) { // out of reach of a signal to the group
				setsid();
				FILE *f = fopen("daemon.pid", "w");
				if (f)
					fprintf(f, "%d", getpid()), fclose(f);
			}
			close(away[0]), close(away[1]);
			alarm(120); // whatever becomes of the test
			for (;;)
				pause();
		}
		close(away[1]);
		(void)!read(away[0], &none, 1); // until it is
		close(away[0]);
	}
}

static int strikes(struct context *c, const char *call)
{
	const char *want = getenv("FAULT_CALL"), *fault = getenv("FAULT");
	const char *slow = getenv("SLOW");
	volatile uint64_t spins = 0;

	if (slow && !strcmp(slow, call))
		usleep(atoi(getenv("SLOW_MS")) * 1000);
	if (!want || !fault || strcmp(want, call) || (c && c->device != &devices[0]))
		return NONE;
	if (!strcmp(fault, "crash"))
		*(volatile int *)8 = 1;
	if (!strcmp(fault, "jump"))
		((void (*)(void))16)();
	if (!strcmp(fault, "abort"))
		abort();
	if (!strcmp(fault, "exit"))
		exit(0); // as politely as can be
	if (!strcmp(fault, "_exit"))
		_exit(0);
	if (!strcmp(fault, "trap"))
		__builtin_trap();
	if (!strcmp(fault, "exec")) // another program in its place
		execl("/bin/true", "true", NULL);
	if (!strcmp(fault, "hang_term"))
		signal(SIGTERM, SIG_IGN);
	if (!strncmp(fault, "hang", 4))
		for (;;)
			pause();
	if (!strcmp(fault, "stop"))
		for (;;) // woken, it stops again
			raise(SIGSTOP);
	if (!strcmp(fault, "thread")) // the thread that called does not come back
		syscall(SYS_exit, 0);
	if (!strcmp(fault, "file")) { // what the call reads lies on a file system that does not answer
		int fd = open(getenv("FAULT_FILE"), O_RDONLY);
		if (fd >= 0)
			close(fd);
	}
	disturb(fault);
	if (!strcmp(fault, "spin"))
		for (;;)
			spins++;
	if (!strcmp(fault, "recurse")) {
		volatile char deep[1 << 16];
		deep[0] = 1;
		return strikes(c, call) + deep[0];
	}
	if (!strcmp(fault, "close")) // every descriptor that it finds
		for (int fd = 0; fd < 64; fd++)
			close(fd);
	if (!strcmp(fault, "scribble")) // on what is not its own
		for (int fd = 0; fd < 16; fd++)
			if (write(fd, "{\"t\":\"done\"}\n\xff\x00garbage", 20) < 0)
				continue;
	errno = 0;
	if (!strcmp(fault, "unsupported")) {
		errno = EOPNOTSUPP;
		return UNSUPPORTED;
	}
	return !strcmp(fault, "null") ? NIL : !strcmp(fault, "junk") ? JUNK : !strcmp(fault, "offset") ? OFFSET : NONE;
}

__attribute__((constructor)) static void load(void) { strikes(NULL, "dlopen"); }

static int result(int f) { return f == NIL ? -1 : f == JUNK ? -559038737 : EOPNOTSUPP; }

#define NOWHERE ((void *)8) // what NULL becomes when something is added to it
#define PTR(c, call) do { int f_ = strikes(c, call); if (f_ == OFFSET) return NOWHERE; if (f_ == NIL || f_ == UNSUPPORTED) return NULL; } while (0)
#define INT(c, call) do { int f_ = strikes(c, call); if (f_) return result(f_); } while (0)

struct device **ibv_get_device_list(int *n)
{
	struct device **list = calloc(3, sizeof *list);
	int f = strikes(NULL, "ibv_get_device_list");

	if (f == NIL || f == UNSUPPORTED)
		return NULL;
	for (int i = 0; i < 2; i++) {
		list[i] = &devices[i];
		snprintf(devices[i].name, 64, "%s%s", i ? "good" : now("rename") ? "renamed" : "bad", getenv("FAULT_DEVICE") ? getenv("FAULT_DEVICE") : "");
		snprintf(devices[i].dev_name, 64, "uverbs%d", behind(&devices[i]));
		devices[i].node_type = 1;
	}
	if (f == OFFSET)
		list[0] = NOWHERE;
	if (now("vanish"))
		list[0] = list[1], list[1] = NULL;
	*n = f == JUNK ? -559038737 : now("vanish") ? 1 : 2;
	return list;
}

void ibv_free_device_list(struct device **list) { strikes(NULL, "ibv_free_device_list"); free(list); }
const char *ibv_get_device_name(struct device *d) { PTR(NULL, "ibv_get_device_name"); return d->name; }
uint64_t ibv_get_device_guid(struct device *d) { strikes(NULL, "ibv_get_device_guid"); return guid_of(d, 0x015300feff5e0000ull); }

#include "wire.h"

static int poll_cq(struct object *cq, int n, void *wc) { INT(cq->context, "ibv_poll_cq"); return wire() ? wire_poll(cq, n, wc) : 0; }
static int req_notify_cq(struct object *cq, int s) { (void)s; INT(cq->context, "ibv_req_notify_cq"); return 0; }
static int post(struct object *qp, void *wr, void **bad) { (void)bad; INT(qp->context, "ibv_post_send"); return wire() ? wire_send(qp, wr) : 0; }
static int post_recv(struct object *qp, void *wr, void **bad) { (void)bad; INT(qp->context, "ibv_post_send"); return wire() ? wire_recv(qp, wr) : 0; }

struct context *ibv_open_device(struct device *d)
{
	struct context *c = calloc(1, sizeof *c);

	c->device = d;
	PTR(c, "ibv_open_device");
	c->ops[11] = poll_cq;
	c->ops[12] = req_notify_cq;
	c->ops[25] = post;
	c->ops[26] = post_recv;
	return c;
}

int ibv_close_device(struct context *c) { INT(c, "ibv_close_device"); free(c); return 0; }

int ibv_query_device(struct context *c, uint8_t *attr)
{
	memset(attr, strikes(c, "ibv_query_device") == JUNK ? 0xee : 0, 232);
	uint64_t guid = guid_of(c->device, 0x0100000000000000ull); // another than the list's
	static int asked;
	if (now("late") && c->device == devices && ++asked > 1)
		guid ^= 0xff00;
	if (now("inner") && c->device == devices)
		guid ^= 0xff00;
	memcpy(attr + 64, &guid, sizeof guid); // node_guid
	attr[227] |= 1;                             // phys_port_cnt
	return 0;
}

int ibv_query_port(struct context *c, uint8_t port, uint8_t *attr)
{
	int f = strikes(c, "ibv_query_port");

	if (f == NIL || f == UNSUPPORTED || port != 1)
		return f ? result(f) : EINVAL;
	memset(attr, f == JUNK ? 0xee : 0, 48);
	if (f != JUNK) {
		attr[0] = 4;              // state: active
		attr[4] = attr[8] = 5;    // MTUs
		attr[12] = 2;             // gid_tbl_len
		attr[46] = 2;             // link layer: Ethernet
	}
	return 0;
}

int ibv_query_gid(struct context *c, uint8_t port, int index, uint8_t *gid)
{
	(void)port;
	int f = strikes(c, "ibv_query_gid");

	memset(gid, f == JUNK ? 0xee : 0, 16);
	if (f == NIL || f == UNSUPPORTED)
		return -1;
	if (index == 0)
		memcpy(gid, "\xfe\x80\0\0\0\0\0\0\x02\0\x5e\xff\xfe\0\x53\x01", 16);
	return 0;
}

static struct object *object(struct context *c)
{
	struct object *o = calloc(1, WIRE_OBJECT);
	o->context = c;
	return o;
}

struct object *ibv_alloc_pd(struct context *c) { PTR(c, "ibv_alloc_pd"); return object(c); }

struct object *ibv_reg_mr(struct object *pd, void *addr, size_t length, int access)
{
	PTR(pd->context, "ibv_reg_mr");
	struct object *mr = object(pd->context);
	mr->words[1] = (uintptr_t)addr;
	mr->words[2] = length;
	mr->words[3] = (uint64_t)0x101 << 32;
	mr->words[4] = access & 2 ? 0x202 : 0;
	return mr;
}

struct object *ibv_create_cq(struct context *c, int cqe, void *ctx, struct object *channel, int vector)
{
	(void)cqe; (void)ctx; (void)channel; (void)vector;
	PTR(c, "ibv_create_cq");
	return object(c);
}

struct object *ibv_create_qp(struct object *pd, uint32_t *init)
{
	int f = strikes(pd->context, "ibv_create_qp");

	if (f == OFFSET)
		return NOWHERE;
	if (f == NIL || f == UNSUPPORTED)
		return NULL;
	if (f == JUNK)
		memset(init, 0xee, 64);
	struct object *qp = object(pd->context);
	qp->words[5] = (uint64_t)0x17 << 32;
	if (wire())
		wire_open(qp, init);
	return qp;
}

int ibv_modify_qp(struct object *qp, uint32_t *attr, int mask) { INT(qp->context, "ibv_modify_qp"); if (wire()) wire_aim(qp, attr, mask); return 0; }
int ibv_query_qp(struct object *qp, uint32_t *attr, int mask, uint32_t *init) { (void)mask; INT(qp->context, "ibv_query_qp"); attr[0] = 1; init[8] = 16; return 0; }
int ibv_dealloc_pd(struct object *o) { INT(o->context, "ibv_dealloc_pd"); free(o); return 0; }
int ibv_dereg_mr(struct object *o) { INT(o->context, "ibv_dereg_mr"); free(o); return 0; }
int ibv_destroy_cq(struct object *o) { INT(o->context, "ibv_destroy_cq"); free(o); return 0; }
int ibv_destroy_qp(struct object *o) { INT(o->context, "ibv_destroy_qp"); if (wire()) wire_close(o); free(o); return 0; }
