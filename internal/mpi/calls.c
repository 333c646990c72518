//go:build mpi

#include "calls.h"
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <time.h>

// CHUNK is the maximum count of one call: 1 GiB, far below MPI's limit of 2^31.
#define CHUNK ((int64_t)1 << 27)

// SMALL is the maximum size of a message for which a rank may wait long: a command, or the end of
// another rank's work. Larger messages follow such a message, so that both ranks are ready.
#define SMALL 256

// SPINS is the number of polls without sleeping, about 100 us.
#define SPINS 2000

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

// finish waits for a request: it first polls without sleeping, then sleeps for a tenth of the time
// waited so far, at most 1 ms.
static int finish(MPI_Request *r) {
	int done = 0;
	double began = now();
	for (int i = 0;; i++) {
		int code = MPI_Test(r, &done, MPI_STATUS_IGNORE);
		if (code != MPI_SUCCESS || done)
			return code;
		if (i < SPINS) {
			sched_yield();
			continue;
		}
		double nap = 0.1 * (now() - began);
		if (nap > 1e-3)
			nap = 1e-3;
		struct timespec t = {0, (long)(1e9 * nap)};
		nanosleep(&t, NULL);
	}
}

int vssgp_mpi_start(int *rank, int *size) {
	int given, code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
	if (code != MPI_SUCCESS)
		return code;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if ((code = MPI_Comm_rank(MPI_COMM_WORLD, rank)) != MPI_SUCCESS)
		return code;
	return MPI_Comm_size(MPI_COMM_WORLD, size);
}

// CHUNKS runs call for chunks of the n numbers, count of them from index at.
#define CHUNKS(call)                                                           \
	for (int64_t at = 0; at < n; at += CHUNK) {                            \
		int count = (int)(n - at < CHUNK ? n - at : CHUNK);            \
		int code = (call);                                             \
		if (code != MPI_SUCCESS)                                       \
			return code;                                           \
	}                                                                      \
	return MPI_SUCCESS

// NAPPING runs a call that starts request r for a small message and waits for it. Like CHUNKS it
// does nothing if n is 0.
#define NAPPING(call)                                                          \
	do {                                                                   \
		if (n == 0)                                                    \
			return MPI_SUCCESS;                                    \
		MPI_Request r;                                                 \
		int code = (call);                                             \
		return code != MPI_SUCCESS ? code : finish(&r);                \
	} while (0)

int vssgp_mpi_broadcast(double *a, int64_t n, int from) {
	if (n <= SMALL)
		NAPPING(MPI_Ibcast(a, (int)n, MPI_DOUBLE, from, MPI_COMM_WORLD, &r));
	CHUNKS(MPI_Bcast(a + at, count, MPI_DOUBLE, from, MPI_COMM_WORLD));
}

int vssgp_mpi_max(double *a, int64_t n) {
	if (n <= SMALL)
		NAPPING(MPI_Iallreduce(MPI_IN_PLACE, a, (int)n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &r));
	CHUNKS(MPI_Allreduce(MPI_IN_PLACE, a + at, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
}

int vssgp_mpi_sum(int64_t *a, int64_t n, int rank) {
	CHUNKS(MPI_Reduce(rank == 0 ? MPI_IN_PLACE : (void *)(a + at), rank == 0 ? a + at : NULL, count, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
}

int vssgp_mpi_send(const double *a, int64_t n, int to) {
	CHUNKS(MPI_Send(a + at, count, MPI_DOUBLE, to, 0, MPI_COMM_WORLD));
}

int vssgp_mpi_recv(double *a, int64_t n, int from) {
	if (n <= SMALL)
		NAPPING(MPI_Irecv(a, (int)n, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &r));
	CHUNKS(MPI_Recv(a + at, count, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int vssgp_mpi_barrier(void) {
	const int n = 1;
	NAPPING(MPI_Ibarrier(MPI_COMM_WORLD, &r));
}

int vssgp_mpi_close(void) { return MPI_Finalize(); }

void vssgp_mpi_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

void vssgp_mpi_library(char *to, int size) {
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int n = 0;
	MPI_Get_library_version(text, &n);
	strncpy(to, text, size - 1);
	to[size - 1] = 0;
}

void vssgp_mpi_text(int code, char *to, int size) {
	char text[MPI_MAX_ERROR_STRING];
	int n = 0;
	MPI_Error_string(code, text, &n);
	strncpy(to, text, size - 1);
	to[size - 1] = 0;
}
