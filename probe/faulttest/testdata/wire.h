// The wire of faultverbs.c: where a message goes that a queue pair sends, by WIRE.
//
//	ok       to the queue pair that it is for, of this process or another
//	reflect  back to the one that sent it
//	cross    to one of this process that it is not for
//	none     nowhere
//
// Every send completes with success. A queue pair has a socket and a thread that
// puts what comes into the receives that are posted, in order; a remote write goes to
// its address. WIRE_DROP=n loses the first n messages of a queue pair.
#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { WIRE_SEND, WIRE_WRITE };
enum { IBV_RDMA_WRITE = 0, IBV_WC_RECV = 128, IBV_DEST_QPN = 1 << 20 };

struct wire_sge { uint64_t addr; uint32_t length, lkey; };
struct wire_send_wr { uint64_t id; struct wire_send_wr *next; struct wire_sge *sge; int num, opcode; unsigned flags; uint32_t imm; uint64_t remote; };
struct wire_recv_wr { uint64_t id; struct wire_recv_wr *next; struct wire_sge *sge; int num; };
struct wire_wc { uint64_t id; int32_t status, opcode; uint32_t vendor, length, imm, qp, from; int32_t flags; uint16_t pkey, slid; uint8_t sl, bits; };

struct wire_cq { struct object o; struct wire_wc queue[256]; unsigned first, end; };
struct wire_qp {
	struct object o;
	struct wire_cq *cq;
	uint32_t num, to;
	int sock, closing, dropped;
	pthread_t thread;
	struct { uint64_t id; struct wire_sge into; } queue[256];
	unsigned first, end;
	struct wire_qp *next;
};
struct wire_head { uint32_t what; uint32_t pad; uint64_t remote; };

#define WIRE_OBJECT (sizeof(struct wire_qp) > sizeof(struct wire_cq) ? sizeof(struct wire_qp) : sizeof(struct wire_cq))
#define WIRE_LARGEST (1 << 17)

static pthread_mutex_t wire_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wire_posted = PTHREAD_COND_INITIALIZER;
static struct wire_qp *wire_qps;

static const char *wire(void) { return getenv("WIRE"); }

// The socket of a queue pair has an abstract name: nothing is left of it.
static socklen_t wire_name(struct sockaddr_un *a, uint32_t num)
{
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "faultverbs/%s/%u", getenv("FAULT_DEVICE"), num);
	return offsetof(struct sockaddr_un, sun_path) + 1 + n;
}

static void wire_completes(struct wire_cq *cq, uint64_t id, int opcode, uint32_t length, uint32_t num)
{
	cq->queue[cq->end++ % 256] = (struct wire_wc){ .id = id, .opcode = opcode, .length = length, .qp = num };
}

static void wire_arrives(struct wire_qp *q, const struct wire_head *head, size_t n)
{
	if (head->what == WIRE_WRITE) {
		memcpy((void *)head->remote, head + 1, n);
		return;
	}
	pthread_mutex_lock(&wire_lock);
	while (q->first == q->end && !q->closing)
		pthread_cond_wait(&wire_posted, &wire_lock);
	if (!q->closing) {
		struct wire_sge into = q->queue[q->first % 256].into;
		if (n > into.length)
			n = into.length;
		memcpy((void *)into.addr, head + 1, n);
		wire_completes(q->cq, q->queue[q->first++ % 256].id, IBV_WC_RECV, n, q->num);
	}
	pthread_mutex_unlock(&wire_lock);
}

static void *wire_listens(void *arg)
{
	struct wire_qp *q = arg;
	struct wire_head *head = malloc(sizeof *head + WIRE_LARGEST);
	ssize_t n;

	while (!q->closing && (n = recv(q->sock, head, sizeof *head + WIRE_LARGEST, 0)) >= (ssize_t)sizeof *head)
		wire_arrives(q, head, n - sizeof *head);
	free(head);
	return NULL;
}

static void wire_open(struct object *o, uint32_t *init)
{
	static uint32_t last;
	struct wire_qp *q = (struct wire_qp *)o;
	struct sockaddr_un name;
	sigset_t all, was;

	q->cq = ((struct wire_cq **)init)[1]; // send_cq; recv_cq is the same
	q->num = ((uint32_t)getpid() << 6 | ++last % 64) & 0xffffff;
	o->words[5] = (uint64_t)q->num << 32;
	q->sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(q->sock, (struct sockaddr *)&name, wire_name(&name, q->num)))
		abort();
	q->next = wire_qps, wire_qps = q;
	sigfillset(&all); // signals are the program's
	pthread_sigmask(SIG_BLOCK, &all, &was);
	if (pthread_create(&q->thread, NULL, wire_listens, q))
		abort();
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

static void wire_close(struct object *o)
{
	struct wire_qp *q = (struct wire_qp *)o, **at = &wire_qps;

	pthread_mutex_lock(&wire_lock);
	q->closing = 1;
	pthread_cond_broadcast(&wire_posted);
	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	pthread_mutex_unlock(&wire_lock);
	shutdown(q->sock, SHUT_RDWR);
	pthread_join(q->thread, NULL);
	close(q->sock);
}

static void wire_aim(struct object *o, uint32_t *attr, int mask)
{
	if (mask & IBV_DEST_QPN)
		((struct wire_qp *)o)->to = attr[7];
}

// wire_target is where a message goes, 0 for nowhere.
static uint32_t wire_target(struct wire_qp *q)
{
	if (q->dropped < (getenv("WIRE_DROP") ? atoi(getenv("WIRE_DROP")) : 0)) {
		q->dropped++;
		return 0;
	}
	if (!strcmp(wire(), "ok"))
		return q->to;
	if (!strcmp(wire(), "reflect"))
		return q->num;
	if (!strcmp(wire(), "cross"))
		for (struct wire_qp *x = wire_qps; x; x = x->next)
			if (x != q && x->num != q->to)
				return x->num;
	return 0;
}

static int wire_send(struct object *o, struct wire_send_wr *wr)
{
	struct wire_qp *q = (struct wire_qp *)o;
	int write = wr->opcode == IBV_RDMA_WRITE;
	uint32_t to = write && strcmp(wire(), "ok") ? 0 : wire_target(q);

	if (to) {
		struct wire_head head = { write ? WIRE_WRITE : WIRE_SEND, 0, wr->remote };
		struct iovec parts[] = { { &head, sizeof head }, { (void *)wr->sge->addr, wr->sge->length } };
		struct sockaddr_un name;
		struct msghdr m = { .msg_name = &name, .msg_namelen = wire_name(&name, to), .msg_iov = parts, .msg_iovlen = 2 };
		sendmsg(q->sock, &m, MSG_NOSIGNAL);
	}
	pthread_mutex_lock(&wire_lock);
	wire_completes(q->cq, wr->id, write ? 1 : 0, wr->sge->length, q->num);
	pthread_mutex_unlock(&wire_lock);
	return 0;
}

static int wire_recv(struct object *o, struct wire_recv_wr *wr)
{
	struct wire_qp *q = (struct wire_qp *)o;

	pthread_mutex_lock(&wire_lock);
	q->queue[q->end % 256].id = wr->id;
	q->queue[q->end++ % 256].into = *wr->sge;
	pthread_cond_broadcast(&wire_posted);
	pthread_mutex_unlock(&wire_lock);
	return 0;
}

static int wire_poll(struct object *o, int n, struct wire_wc *wc)
{
	struct wire_cq *cq = (struct wire_cq *)o;
	int k = 0;

	pthread_mutex_lock(&wire_lock);
	while (k < n && cq->first != cq->end)
		wc[k++] = cq->queue[cq->first++ % 256];
	pthread_mutex_unlock(&wire_lock);
	return k;
}
