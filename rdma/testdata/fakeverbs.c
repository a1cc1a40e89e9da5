// A verbs library for the binding's tests: real C, no device. It has the layout
// of infiniband/verbs.h as far as the binding looks, each verb can be told what to
// return, and successful calls leave junk in errno, as real ones do.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct device { void *ops[2]; int32_t node_type, transport_type; char name[64], dev_name[64], dev_path[256], ibdev_path[256]; };
struct context { struct device *device; void *ops[32]; int32_t cmd_fd; };
struct object { struct context *context; uint64_t words[32]; };
struct gid_entry { uint8_t gid[16]; uint32_t index, port, type, ifindex; };
struct wc { uint64_t wr_id; int32_t status, opcode; uint32_t rest[8]; };
struct wr { uint64_t wr_id; struct wr *next; };

enum { OP_POLL_CQ = 11, OP_REQ_NOTIFY_CQ = 12, OP_POST_SEND = 25, OP_POST_RECV = 26, ARG_ERRNO = 1 << 20 };

// What a verb was told to do: return ret with errno set to err (0: left alone).
static struct { char name[32]; long ret; int err; } script;

void fake_script(const char *name, long ret, int err)
{
	strncpy(script.name, name, sizeof script.name - 1);
	script.ret = ret;
	script.err = err;
}

static int scripted(const char *name, long *ret)
{
	if (strcmp(script.name, name))
		return 0;
	if (script.err)
		errno = script.err;
	*ret = script.ret;
	return 1;
}

#define INT(name) do { long r_; if (scripted(name, &r_)) return (int)r_; } while (0)
#define PTR(name) do { long r_; if (scripted(name, &r_)) return (void *)r_; } while (0)

static struct device devices[3];
static void *entries[3]; // what the list has in a device's place, unless NULL
static int freed, count_override, has_count_override, endless;
static uint32_t *watched, seen[32];
static volatile uint32_t *held;
static int empty_polls;
static int32_t wc_status = 12;
static uint32_t wc_length;

int fake_freed(void) { return freed; }
void fake_count(int on, int n) { has_count_override = on; count_override = n; }
void fake_endless(int on) { endless = on; } // the list has no NULL
void fake_entry(int i, void *p) { entries[i] = p; }
void fake_watch(uint32_t *mark) { watched = mark; }
uint32_t fake_seen(int op) { return seen[op]; } // what was watched during the last such call
void fake_empty(int n) { empty_polls = n; }     // so many polls find nothing
void fake_wc(int32_t status, uint32_t length) { wc_status = status; wc_length = length; } // what completes
void fake_hold(volatile uint32_t *p) { held = p; } // polls do not return before *p is set

// What a C function sees of its caller: where the caller's frame record says that it
// was called from, and the result is how far the stack was off 16 bytes.
int fake_caller(void **from)
{
	void **own = __builtin_frame_address(0), **caller = own[0];
	*from = caller[1];
	return (int)((uintptr_t)own % 16);
}

static void look(int op)
{
	if (watched)
		seen[op] = *watched;
}

struct device **ibv_get_device_list(int *n)
{
	struct device **list;
	PTR("ibv_get_device_list");
	strcpy(devices[0].name, "fake_0");
	memset(devices[1].name, 'x', 64); // no NUL: what follows is not the name
	strcpy(devices[1].dev_name, "uverbs1");
	strcpy(devices[2].name, "fake_null\x1b[31m");
	devices[0].node_type = 1;
	devices[1].transport_type = 100;
	list = calloc(4097, sizeof *list);
	for (int i = 0; i < (endless ? 4097 : 3); i++)
		list[i] = i < 3 && entries[i] ? entries[i] : &devices[i % 3];
	if (n)
		*n = has_count_override ? count_override : 3;
	return list;
}

void ibv_free_device_list(struct device **list) { freed++; free(list); }
const char *ibv_get_device_name(struct device *d) { PTR("ibv_get_device_name"); return d->name; }

static int poll_cq(struct object *cq, int n, struct wc *wc)
{
	(void)cq;
	look(OP_POLL_CQ);
	while (held && !*held)
		;
	if (empty_polls > 0) {
		empty_polls--;
		return 0;
	}
	INT("ibv_poll_cq");
	if (n > 0) {
		wc->wr_id = 0x1122334455667788;
		wc->status = wc_status;
		wc->rest[1] = wc_length;
	}
	return n > 0;
}

static int req_notify_cq(struct object *cq, int solicited)
{
	INT("ibv_req_notify_cq");
	cq->words[10] = solicited;
	return 0;
}

static int post(const char *name, struct wr *wr, struct wr **bad)
{
	for (; wr; wr = wr->next)
		if (wr->wr_id == 0xbad) {
			*bad = wr;
			INT(name);
			return ENOMEM;
		}
	INT(name);
	return 0;
}
static int post_send(struct object *qp, struct wr *wr, struct wr **bad) { (void)qp; look(OP_POST_SEND); return post("ibv_post_send", wr, bad); }
static int post_recv(struct object *qp, struct wr *wr, struct wr **bad) { (void)qp; look(OP_POST_RECV); return post("ibv_post_recv", wr, bad); }

struct context *ibv_open_device(struct device *d)
{
	struct context *c;
	PTR("ibv_open_device");
	c = calloc(1, 400);
	c->device = d;
	if (strncmp(d->name, "fake_null", 9)) {
		c->ops[OP_POLL_CQ] = poll_cq;
		c->ops[OP_REQ_NOTIFY_CQ] = req_notify_cq;
		c->ops[OP_POST_SEND] = post_send;
		c->ops[OP_POST_RECV] = post_recv;
	}
	return c;
}

int ibv_close_device(struct context *c) { INT("ibv_close_device"); free(c); return 0; }

int ibv_query_device(struct context *c, uint8_t *attr)
{
	(void)c;
	INT("ibv_query_device");
	memset(attr, 0, 232);
	for (int i = 0; i < 8; i++)
		attr[64 + i] = i + 1;          // node_guid
	attr[227] = 2;                         // phys_port_cnt
	memcpy(attr + 108, "\x0b\0\0\0", 4); // max_qp
	if (watched)
		memcpy(attr + 104, watched, 4); // hw_ver: the mark as seen from inside
	return 0;
}

// Port 56 fills the 56 bytes of the newer struct; any other the 48 that the
// exported function of rdma-core fills.
int ibv_query_port(struct context *c, uint8_t port, uint8_t *attr)
{
	(void)c;
	INT("ibv_query_port");
	errno = ENOENT;
	memset(attr, port == 56 ? 0xab : 0x01, port == 56 ? 56 : 48);
	return 0;
}

int ibv_query_gid(struct context *c, uint8_t port, int index, uint8_t *gid)
{
	(void)c;
	INT("ibv_query_gid");
	memset(gid, 0, 16); // an empty slot reads as success
	if (index >= 0 && index < 2) {
		gid[0] = port;
		gid[15] = index;
	}
	return 0;
}

static struct object *object(struct context *c)
{
	struct object *o = calloc(1, sizeof *o);
	o->context = c;
	errno = ENOENT;
	return o;
}

struct object *ibv_alloc_pd(struct context *c) { PTR("ibv_alloc_pd"); return object(c); }

// access with ARG_ERRNO: NULL, errno the low bits, left alone when they are 0.
struct object *ibv_reg_mr(struct object *pd, void *addr, size_t length, int access)
{
	struct object *mr;
	PTR("ibv_reg_mr");
	if (access & ARG_ERRNO) {
		if (access & 0xfff)
			errno = access & 0xfff;
		return NULL;
	}
	mr = object(pd->context);
	mr->words[1] = (uintptr_t)addr;
	mr->words[2] = length;
	mr->words[3] = (uint64_t)0x101 << 32;   // handle, lkey
	mr->words[4] = access & 2 ? 0x202 : 0; // rkey
	return mr;
}

struct object *ibv_create_cq(struct context *c, int cqe, void *ctx, struct object *channel, int vector)
{
	struct object *cq;
	PTR("ibv_create_cq");
	cq = object(c);
	cq->words[0] = (uintptr_t)channel;
	cq->words[1] = (uintptr_t)ctx;
	cq->words[2] = (uint64_t)(uint32_t)cqe << 32;
	cq->words[11] = vector;
	return cq;
}

struct object *ibv_create_qp(struct object *pd, uint32_t *init)
{
	struct object *qp;
	PTR("ibv_create_qp");
	qp = object(pd->context);
	init[8] += 1; // cap.max_send_wr: granted more than asked
	qp->words[5] = (uint64_t)0x17 << 32; // handle, qp_num
	return qp;
}

int ibv_modify_qp(struct object *qp, uint32_t *attr, int mask)
{
	INT("ibv_modify_qp");
	qp->words[6] = attr[0];
	qp->words[30] = mask;
	return 0;
}

int ibv_dealloc_pd(struct object *o) { INT("ibv_dealloc_pd"); free(o); return 0; }
int ibv_dereg_mr(struct object *o) { INT("ibv_dereg_mr"); free(o); return 0; }
int ibv_destroy_cq(struct object *o) { INT("ibv_destroy_cq"); free(o); return 0; }
int ibv_destroy_qp(struct object *o) { INT("ibv_destroy_qp"); free(o); return 0; }

#ifndef LEAN // what an old or foreign library may lack
int ibv_query_qp(struct object *qp, uint32_t *attr, int mask, uint32_t *init)
{
	(void)mask;
	INT("ibv_query_qp");
	attr[0] = (uint32_t)qp->words[6];
	init[8] = 77;
	return 0;
}

uint64_t ibv_get_device_guid(struct device *d) { (void)d; return 0x015300feff5e0000ull; } // 0000:5eff:fe00:5301 in memory

int _ibv_query_gid_ex(struct context *c, uint32_t port, uint32_t index, struct gid_entry *e, uint32_t flags, size_t size)
{
	(void)c;
	INT("_ibv_query_gid_ex");
	if (flags || size != sizeof *e)
		return EINVAL;
	*e = (struct gid_entry){ .index = index, .port = port, .type = 2, .ifindex = 9 };
	return 0;
}

struct object *ibv_create_comp_channel(struct context *c)
{
	struct object *ch;
	PTR("ibv_create_comp_channel");
	ch = object(c);
	ch->words[0] = 41; // fd
	return ch;
}
int ibv_destroy_comp_channel(struct object *o) { INT("ibv_destroy_comp_channel"); free(o); return 0; }
int ibv_get_cq_event(struct object *ch, void **cq, void **ctx)
{
	INT("ibv_get_cq_event");
	*cq = ch;
	*ctx = (void *)0x77;
	return 0;
}
void ibv_ack_cq_events(struct object *cq, unsigned int n) { cq->words[12] = n; }
#endif
