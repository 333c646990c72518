/* The driver's library, opened when a card is first asked for, and the calls that
 * gorgonia.org/cu lacks or passes Go's memory to in ways that Go does not allow.
 * cuda.h is not needed for them. */
#ifndef VSSGP_CUDA_LIBRARY_H
#define VSSGP_CUDA_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* Opens the library and initializes the driver. Answers 0, the driver's code,
 * or -1 with the loader's words in *why where there is no library. Call once. */
int vssgp_cuda_start(const char **why);

/* A function that the driver lacks answers VSSGP_LACKS + n; this is its name. */
enum { VSSGP_LACKS = 100000 };
const char *vssgp_cuda_lacking(int code);

/* The driver's word for a code, NULL if it has none. */
const char *vssgp_cuda_name(int code);

/* Loads an image that ends with a zero byte. log gets the compiler's errors. */
int vssgp_cuda_load(void **module, const void *image, char *log, size_t size);

/* Launches a kernel whose n arguments are words of 8 bytes. */
int vssgp_cuda_launch(void *function, const unsigned int grid[3], const unsigned int block[3],
	unsigned int shared, void *stream, const uint64_t *words, int n);

/* The driver's own. */
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuMemHostAlloc(void **at, size_t bytes, unsigned int flags);

#endif
