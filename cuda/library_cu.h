/* The driver's library, opened when GPUs are first used, and the calls that are
 * missing in gorgonia.org/cu or to which it passes Go memory in ways that Go does
 * not allow. They do not need cuda.h. */
#ifndef VSSGP_CUDA_LIBRARY_H
#define VSSGP_CUDA_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* Opens the library and initializes the driver. Returns 0, the driver's code,
 * or -1 with the loader's error in *why if there is no library. Call once. */
int vssgp_cuda_start(const char **why);

/* A function missing in the driver returns VSSGP_LACKS + n; this returns its name. */
enum { VSSGP_LACKS = 100000 };
const char *vssgp_cuda_lacking(int code);

/* Returns the driver's name of a code, or NULL. */
const char *vssgp_cuda_name(int code);

/* Loads an image that ends with a zero byte. log receives the compiler's errors. */
int vssgp_cuda_load(void **module, const void *image, char *log, size_t size);

/* Launches a kernel whose n arguments are words of 8 bytes. */
int vssgp_cuda_launch(void *function, const unsigned int grid[3], const unsigned int block[3],
	unsigned int shared, void *stream, const uint64_t *words, int n);

/* Functions of the driver. */
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuMemHostAlloc(void **at, size_t bytes, unsigned int flags);

#endif
