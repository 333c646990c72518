/* A fake driver of three GPUs for the tests of driver_cu.go: it uses host memory
 * and has the kernels of driver.ptx and two more. It returns the results and
 * codes of the driver's documentation, but compiles nothing. With -DOLD a
 * function is missing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK, INVALID = 1, NO_MEMORY = 2, NO_CONTEXT = 201, BAD_IMAGE = 218, NOT_FOUND = 500, NOT_READY = 600, FAULT = 700 };
enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };
enum { COUNTS = 9000 };
enum kernel { NONE, ADD, WIDE, WAIT, FAULTS, ENDS, ANSWERS };

static int started, failed, ended, busy, opted = 48 << 10;
static int retained, resets, released, loaded, queues; /* queues: streams and events */
static __thread void *current; /* the thread's context */

/* Page-locked memory, and pending copies to it. */
static struct { char *at; size_t n; } locked[64];
static struct { void *to; uint64_t from; size_t n; } later[64];
static int waiting;

static int is_locked(const char *p) {
	for (int i = 0; i < 64; i++)
		if (locked[i].at && p >= locked[i].at && p < locked[i].at + locked[i].n)
			return 1;
	return 0;
}

static void copy_waiting(void) {
	for (int i = 0; i < waiting; i++)
		memcpy(later[i].to, (void *)(uintptr_t)later[i].from, later[i].n);
	waiting = 0;
}

int cuInit(unsigned flags) { started = flags == 0; return OK; }

/* The name of the code COUNTS is the list of counters. */
int cuGetErrorName(int code, const char **name) {
	static char counts[100];
	snprintf(counts, sizeof counts, "retained %d, reset %d, released %d, loaded %d, queues %d", retained, resets, released, loaded, queues);
	*name = code == NO_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : code == FAULT ? "CUDA_ERROR_ILLEGAL_ADDRESS"
		: code == BAD_IMAGE ? "CUDA_ERROR_INVALID_PTX" : code == NOT_FOUND ? "CUDA_ERROR_NOT_FOUND"
		: code == COUNTS ? counts : NULL;
	return *name ? OK : INVALID;
}

int cuDeviceGetCount(int *n) { *n = 3; return started ? OK : 3; }
int cuDeviceGet(int *d, int ordinal) { *d = ordinal; return OK; }
int cuDeviceGetName(char *name, int n, int d) { snprintf(name, n, "fake %d", d); return OK; }
int cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; *n = 1 << 20; return OK; }

int cuDeviceGetAttribute(int *v, int attribute, int d) {
	switch (attribute) {
	case 75: *v = d == 1 ? 6 : 9; return OK;
	case 76: *v = d == 1 ? 1 : 0; return OK;
	case 16: *v = 132; return OK;
	case 20: *v = d == 0 ? 3 : d == 1 ? 0 : 2; return OK; /* exclusive-process, default, prohibited */
	case 97: *v = 232448; return OK;
	}
	return INVALID;
}

/* There is no cuCtxCreate: exclusive-process mode allows one context. */
int cuDevicePrimaryCtxRetain(void **c, int d) { retained++; *c = (void *)(intptr_t)(d + 1); return OK; }
int cuDevicePrimaryCtxRelease_v2(int d) { (void)d; released++; return failed; }
int cuDevicePrimaryCtxReset_v2(int d) {
	(void)d;
	resets++;
	if (!ended)
		failed = 0;
	return OK;
}
int cuCtxSetCurrent(void *c) { current = c; return OK; }

int cuMemGetInfo_v2(size_t *free, size_t *all) {
	*free = 1000000;
	*all = 1 << 20;
	return current ? failed : NO_CONTEXT;
}

int cuMemAlloc_v2(uint64_t *at, size_t n) {
	if (n > 1000000 || !current)
		return current ? NO_MEMORY : NO_CONTEXT;
	*at = (uint64_t)(uintptr_t)malloc(n);
	return OK;
}
int cuMemFree_v2(uint64_t at) { free((void *)(uintptr_t)at); return OK; }

#ifndef OLD
int cuMemHostAlloc(void **at, size_t n, unsigned flags) {
	int i = 0;
	while (i < 64 && locked[i].at)
		i++;
	if (flags || i == 64)
		return INVALID;
	*at = locked[i].at = malloc(n);
	locked[i].n = n;
	return OK;
}
#endif
int cuMemFreeHost(void *at) {
	for (int i = 0; i < 64; i++)
		if (locked[i].at == at) {
			locked[i].at = NULL;
			free(at);
			return waiting ? INVALID : OK;
		}
	return INVALID;
}

static int copy_later(void *to, uint64_t from, size_t n) {
	if (waiting == 64)
		return INVALID;
	later[waiting].to = to;
	later[waiting].from = from;
	later[waiting++].n = n;
	return OK;
}
/* Pageable memory is read as late as a driver may read it. */
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *s) {
	if (!s)
		return INVALID;
	if (!is_locked(from))
		return copy_later((void *)(uintptr_t)to, (uint64_t)(uintptr_t)from, n);
	memcpy((void *)(uintptr_t)to, from, n);
	return OK;
}
/* A copy to page-locked memory is deferred; for other memory the stream must be idle. */
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *s) {
	int wait = is_locked(to), code;
	if (!s || (!wait && busy))
		return INVALID;
	code = copy_later(to, from, n);
	if (!wait)
		copy_waiting();
	return code;
}
int cuMemsetD8Async(uint64_t at, unsigned char v, size_t n, void *s) { memset((void *)(uintptr_t)at, v, n); return s ? OK : INVALID; }

int cuStreamCreate(void **s, unsigned flags) { queues++; *s = malloc(1); return flags == 1 ? OK : INVALID; }
int cuStreamDestroy_v2(void *s) { queues--; free(s); return OK; }
int cuStreamSynchronize(void *s) { (void)s; busy = 0; copy_waiting(); return failed; }
int cuStreamWaitEvent(void *s, void *e, unsigned flags) { return s && e && !flags ? OK : INVALID; }
/* The first few queries after a launch return that it is running. */
int cuStreamQuery(void *s) {
	(void)s;
	if (busy > 0)
		return busy--, NOT_READY;
	copy_waiting();
	return failed;
}

int cuEventCreate(void **e, unsigned flags) { (void)flags; queues++; *e = malloc(1); return OK; }
int cuEventDestroy_v2(void *e) { queues--; free(e); return OK; }
int cuEventRecord(void *e, void *s) { return e && s ? failed : INVALID; }
int cuEventQuery(void *e) { (void)e; return failed; }
int cuEventElapsedTime(float *ms, void *a, void *b) { *ms = 1.5f; return a && b ? OK : INVALID; }
int cuEventElapsedTime_v2(float *ms, void *a, void *b) { return cuEventElapsedTime(ms, a, b); }

int cuModuleLoadDataEx(void **m, const char *image, unsigned n, const int *options, void **values) {
	loaded++;
	*m = malloc(1);
	if (strncmp(image, ".version", 8) == 0)
		return OK;
	for (unsigned i = 0; i + 1 < n; i++)
		if (options[i] == ERROR_LOG && options[i + 1] == ERROR_LOG_SIZE)
			snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "line 1; fatal: want .version\nline 2\n");
	return BAD_IMAGE;
}
int cuModuleUnload(void *m) { free(m); return OK; }

int cuModuleGetFunction(void **f, void *m, const char *name) {
	static const char *const names[] = {"", "add", "wide", "wait", "fault", "end", "answer"};
	*f = NULL;
	for (intptr_t i = ADD; i <= ANSWERS; i++)
		if (strcmp(name, names[i]) == 0)
			*f = (void *)i;
	return *f && m ? OK : NOT_FOUND;
}
int cuFuncGetAttribute(int *v, int attribute, void *f) { *v = attribute == 0 ? 256 : 16; return f ? OK : INVALID; }

int cuFuncSetAttribute(void *f, int attribute, int v) {
	if (attribute == 9) /* share of shared memory, percent */
		return f && v == 100 ? OK : INVALID;
	if (!f || attribute != 8 || v > 232448)
		return INVALID;
	opted = v;
	return OK;
}

/* add(double *x, long long n, double by): x[i] += by·grid; wide and wait as in
 * driver.ptx. fault fails until a reset, end fails for good, and answer returns a code. */
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, void *s, void **p, void **extra) {
	if (!s || extra || gy > 2 || gz != 1 || bx != 32 || by != 1 || bz != 1 || (int)shared > opted || !current)
		return INVALID;
	busy = 5;
	switch ((enum kernel)(intptr_t)f) {
	case ADD:
		for (long long i = 0; i < *(long long *)p[1]; i++)
			(*(double **)p[0])[i] += *(double *)p[2] * gx;
		return OK;
	case WIDE:
		**(double **)p[0] = *(long long *)p[1] <= shared ? 7 : 0;
		return OK;
	case WAIT:
		return OK;
	case ENDS:
		ended = 1; /* falls through */
	case FAULTS:
		failed = FAULT;
		return OK;
	case ANSWERS:
		failed = *(long long *)p[0];
		return OK;
	default:
		return INVALID;
	}
}
