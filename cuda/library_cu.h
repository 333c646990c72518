/* The driver's library, opened when a card is first asked for. */
#ifndef VSSGP_CUDA_LIBRARY_H
#define VSSGP_CUDA_LIBRARY_H

/* Opens the library and initialises the driver. Answers 0, the driver's code,
 * or -1 with the loader's words in *why where there is no library. Call once. */
int vssgp_cuda_start(const char **why);

/* Calls that gorgonia.org/cu lacks. */
int vssgp_cuda_opt_in(void *function, int bytes);
const char *vssgp_cuda_name(int code);

#endif
