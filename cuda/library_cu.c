//go:build cuda && linux && (amd64 || arm64)

#include "library_cu.h"

#include <dlfcn.h>
#include <stddef.h>

/* What a call answers before the driver is there: CUDA_ERROR_NOT_INITIALIZED. */
static int missing(void) { return 3; }

/* gorgonia.org/cu calls cuInit when the program starts, and ends it where that
 * fails. It gets a yes here; vssgp_cuda_start calls the driver's own. */
__attribute__((visibility("hidden"))) int cuInit(unsigned int flags) {
	(void)flags;
	return 0;
}

#define SYMBOL(name) __attribute__((visibility("hidden"))) void *vssgp_slot_##name = (void *)missing;
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
	/* A function that this driver has not keeps answering "not initialised". */
	for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
		void *found = dlsym(library, symbols[i].name);
		if (found != NULL)
			*symbols[i].slot = found;
	}
	return init(0);
}

/* cuda.h is not needed for these two. 8 is
 * CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES. */
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuGetErrorName(int code, const char **name);

int vssgp_cuda_opt_in(void *function, int bytes) {
	return cuFuncSetAttribute(function, 8, bytes);
}

const char *vssgp_cuda_name(int code) {
	const char *name = NULL;
	if (cuGetErrorName(code, &name) != 0)
		return NULL;
	return name;
}
