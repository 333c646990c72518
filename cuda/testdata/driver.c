/* A driver of two cards that are not there, for the tests of driver_cu.go: the
 * memory is the host's, and the kernels are "add" and "fault". It answers as
 * the driver's documentation says, codes and all; it compiles nothing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK, INVALID = 1, NO_MEMORY = 2, BAD_IMAGE = 218, NOT_FOUND = 500, NOT_READY = 600, FAULT = 700 };
enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };

static int started, failed, busy, opted = 48 << 10;

int cuInit(unsigned flags) { started = flags == 0; return OK; }

int cuGetErrorName(int code, const char **name) {
	*name = code == NO_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : code == FAULT ? "CUDA_ERROR_ILLEGAL_ADDRESS"
		: code == BAD_IMAGE ? "CUDA_ERROR_INVALID_PTX" : code == NOT_FOUND ? "CUDA_ERROR_NOT_FOUND" : NULL;
	return *name ? OK : INVALID;
}

int cuDeviceGetCount(int *n) { *n = 2; return started ? OK : 3; }
int cuDeviceGet(int *d, int ordinal) { *d = ordinal; return OK; }
int cuDeviceGetName(char *name, int n, int d) { snprintf(name, n, "fake %d", d); return OK; }
int cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; *n = 1 << 20; return OK; }

int cuDeviceGetAttribute(int *v, int attribute, int d) {
	switch (attribute) {
	case 75: *v = d == 0 ? 9 : 6; return OK;
	case 76: *v = d == 0 ? 0 : 1; return OK;
	case 16: *v = 132; return OK;
	case 20: *v = 0; return OK;
	case 97: *v = 232448; return OK;
	}
	return INVALID;
}

int cuCtxCreate_v2(void **c, unsigned flags, int d) { (void)flags; *c = (void *)(intptr_t)(d + 1); return OK; }
int cuCtxDestroy_v2(void *c) { return c ? OK : INVALID; }
int cuMemGetInfo_v2(size_t *free, size_t *all) { *free = 1000000; *all = 1 << 20; return OK; }

int cuMemAlloc_v2(uint64_t *at, size_t n) {
	if (n > 1000000)
		return NO_MEMORY;
	*at = (uint64_t)(uintptr_t)malloc(n);
	return OK;
}
int cuMemFree_v2(uint64_t at) { free((void *)(uintptr_t)at); return OK; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *s) { memcpy((void *)(uintptr_t)to, from, n); return s && !busy ? OK : INVALID; }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *s) { memcpy(to, (void *)(uintptr_t)from, n); return s && !busy ? OK : INVALID; }
int cuMemsetD8Async(uint64_t at, unsigned char v, size_t n, void *s) { memset((void *)(uintptr_t)at, v, n); return s ? OK : INVALID; }

int cuStreamCreate(void **s, unsigned flags) { *s = malloc(1); return flags == 1 ? OK : INVALID; }
int cuStreamDestroy_v2(void *s) { free(s); return OK; }
int cuStreamSynchronize(void *s) { (void)s; return failed; }
int cuStreamWaitEvent(void *s, void *e, unsigned flags) { return s && e && !flags ? OK : INVALID; }
/* The first few questions after a launch find it running. */
int cuStreamQuery(void *s) { (void)s; return busy > 0 ? busy--, NOT_READY : failed; }

int cuEventCreate(void **e, unsigned flags) { (void)flags; *e = malloc(1); return OK; }
int cuEventDestroy_v2(void *e) { free(e); return OK; }
int cuEventRecord(void *e, void *s) { return e && s ? OK : INVALID; }
int cuEventQuery(void *e) { (void)e; return failed; }
int cuEventElapsedTime(float *ms, void *a, void *b) { *ms = 1.5f; return a && b ? OK : INVALID; }
int cuEventElapsedTime_v2(float *ms, void *a, void *b) { return cuEventElapsedTime(ms, a, b); }

int cuModuleLoadDataEx(void **m, const char *image, unsigned n, const int *options, void **values) {
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
	*f = (void *)(intptr_t)(strcmp(name, "add") == 0 ? 1 : strcmp(name, "fault") == 0 ? 2 : 0);
	return *f && m ? OK : NOT_FOUND;
}
int cuFuncGetAttribute(int *v, int attribute, void *f) { *v = attribute == 0 ? 256 : 16; return f ? OK : INVALID; }

int cuFuncSetAttribute(void *f, int attribute, int v) {
	if (f != (void *)1 || attribute != 8 || v > 232448)
		return INVALID;
	opted = v;
	return OK;
}

/* add(double *x, long long n, double by): x[i] += by·grid. */
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, void *s, void **p, void **extra) {
	if (!s || extra || gy != 2 || gz != 1 || bx != 32 || by != 1 || bz != 1 || (int)shared > opted)
		return INVALID;
	busy = 5;
	if (f == (void *)2) {
		failed = FAULT;
		return OK;
	}
	for (long long i = 0; i < *(long long *)p[1]; i++)
		(*(double **)p[0])[i] += *(double *)p[2] * gx;
	return OK;
}
