//go:build cuda && linux && (amd64 || arm64)

#include "library_cu.h"

#include <dlfcn.h>

/* gorgonia.org/cu calls cuInit at startup, and exits the program if that fails.
 * This one returns success; vssgp_cuda_start calls the driver's cuInit. */
__attribute__((visibility("hidden"))) int cuInit(unsigned int flags) {
	(void)flags;
	return 0;
}

/* Until it is filled, a slot contains a function that returns the number of the missing function. */
enum {
#define SYMBOL(name) number_##name,
#include "symbols.h"
#undef SYMBOL
};

#define SYMBOL(name) \
	static int lacks_##name(void) { return VSSGP_LACKS + number_##name; } \
	__attribute__((visibility("hidden"))) void *vssgp_slot_##name = (void *)lacks_##name;
#include "symbols.h"
#undef SYMBOL

static const struct {
	const char *name;
	void **slot;
} symbols[] = {
#define SYMBOL(name) {#name, &vssgp_slot_##name},
#include "symbols.h"
#undef SYMBOL
};

static const int count = sizeof symbols / sizeof symbols[0];

int vssgp_cuda_start(const char **why) {
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		*why = dlerror();
		return -1;
	}
	int (*init)(unsigned int) = (int (*)(unsigned int))dlsym(library, "cuInit");
	if (init == NULL) {
		*why = "libcuda.so.1 has no cuInit";
		return -1;
	}
	for (int i = 0; i < count; i++) {
		void *found = dlsym(library, symbols[i].name);
		if (found != NULL)
			*symbols[i].slot = found;
	}
	return init(0);
}

const char *vssgp_cuda_lacking(int code) {
	int i = code - VSSGP_LACKS;
	return i >= 0 && i < count ? symbols[i].name : NULL;
}

int cuGetErrorName(int code, const char **name);

const char *vssgp_cuda_name(int code) {
	const char *name = NULL;
	if (cuGetErrorName(code, &name) != 0)
		return NULL;
	return name;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned int n, const int *options, void **values);

int vssgp_cuda_load(void **module, const void *image, char *log, size_t size) {
	/* CU_JIT_ERROR_LOG_BUFFER and CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES */
	const int options[] = {5, 6};
	void *values[] = {log, (void *)size};
	return cuModuleLoadDataEx(module, image, 2, options, values);
}

int cuLaunchKernel(void *function, unsigned int gx, unsigned int gy, unsigned int gz,
	unsigned int bx, unsigned int by, unsigned int bz,
	unsigned int shared, void *stream, void **arguments, void **extra);

int vssgp_cuda_launch(void *function, const unsigned int grid[3], const unsigned int block[3],
	unsigned int shared, void *stream, const uint64_t *words, int n) {
	enum { most = 512 }; /* 4 KiB, the maximum size of a kernel's arguments */
	uint64_t copies[most];
	void *arguments[most];
	if (n > most)
		return 1;
	for (int i = 0; i < n; i++) {
		copies[i] = words[i];
		arguments[i] = &copies[i];
	}
	return cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
		shared, stream, arguments, NULL);
}
