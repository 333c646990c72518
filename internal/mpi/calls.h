// The functions of the binding. Each returns MPI's code. Blocks are sent in chunks whose size fits
// into an int. Waiting for small messages polls with sleeps, so that a waiting rank leaves its core
// to others.
#ifndef VSSGP_MPI_H
#define VSSGP_MPI_H
#include <stdint.h>

int vssgp_mpi_start(int *rank, int *size);
int vssgp_mpi_broadcast(double *a, int64_t n, int from);
int vssgp_mpi_max(double *a, int64_t n);
int vssgp_mpi_sum(int64_t *a, int64_t n, int rank);
int vssgp_mpi_send(const double *a, int64_t n, int to);
int vssgp_mpi_recv(double *a, int64_t n, int from);
int vssgp_mpi_barrier(void);
int vssgp_mpi_close(void);
void vssgp_mpi_abort(int code);
void vssgp_mpi_library(char *to, int size);
void vssgp_mpi_text(int code, char *to, int size);

#endif
