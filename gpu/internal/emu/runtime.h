// The emulator's implementation of device.cuh. The threads of a block are fibers on one
// operating-system thread that switch only at barriers.
//
// A barrier records its source line, so that the message for a deadlock contains the lines at
// which threads wait, and threads at different barriers are detected. Only emulated code may call
// warp_gather and warp_meet.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <utility>

#if defined(__GNUC__) && !defined(__clang__) && !defined(__x86_64__)
#pragma GCC optimize("-ffp-contract=off")
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

struct EmuDim {
	unsigned x, y, z;
};

extern __thread EmuDim threadIdx, blockIdx, blockDim, gridDim;

// The scheduler's functions for kernels (runtime.cpp).
void *emu_shared();
void emu_barrier(const char *file, int line);
void emu_warp_barrier(const char *file, int line);
void emu_warp_meet(const char *file, int line);
uint64_t emu_shuffle(uint64_t v, int mask, const char *file, int line);
const void *const *emu_warp_gather(const void *p, const char *file, int line);
void emu_copy(void *to, const void *from, int bytes);
void emu_copy_commit();
void emu_copy_wait(int left);

#define KERNEL(...) void
#define DEVICE inline
#define CONSTANT const
#define SHARED(type, s) type *s = reinterpret_cast<type *>(emu_shared())

// The source line of a call: default arguments are evaluated at the caller.
#define EMU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void barrier(EMU_HERE) { emu_barrier(file, line); }
inline void warp_barrier(EMU_HERE) { emu_warp_barrier(file, line); }

inline long long bits_of(double v) {
	long long bits;
	memcpy(&bits, &v, sizeof v);
	return bits;
}

inline double of_bits(long long bits) {
	double v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

inline double shuffle_xor(double v, int mask, EMU_HERE) {
	return of_bits((long long)emu_shuffle((uint64_t)bits_of(v), mask, file, line));
}

// warp_gather returns the 32 pointers of the warp's lanes after all lanes have called it. The
// caller must call warp_meet before the pointed-to values change. Neither orders memory accesses,
// like the GPU instructions that they emulate.
inline const void *const *warp_gather(const void *p, EMU_HERE) { return emu_warp_gather(p, file, line); }
inline void warp_meet(EMU_HERE) { emu_warp_meet(file, line); }

inline double shuffle(double v, int lane, EMU_HERE) {
	double got = *(const double *)warp_gather(&v, file, line)[lane];
	warp_meet(file, line);
	return got;
}

inline double inverse_root(double d) { return 1 / sqrt(d); }

// The target of a copy is NaN until its thread waits for it, because a GPU may perform the copy at
// any time in between. These are macros so that a race is reported with the line that calls
// emu_copy.
#define copy_async(to, from, there) emu_copy(to, (there) ? (from) : nullptr, 8)
#define copy_async16(to, from, there) emu_copy(to, (there) ? (from) : nullptr, 16)
typedef char *SharedAt;
inline SharedAt shared_at(void *p) { return (char *)p; }
inline void copy_commit() { emu_copy_commit(); }
template <int N> inline void copy_wait() { emu_copy_wait(N); }

// EmuKernel is an entry of the table of kernels.
struct EmuKernel {
	const char *name;
	int threads, words;
	void (*call)(const uint64_t *words);
};

// The tables of the two architectures and of the emulator's test kernels (arch 0).
const EmuKernel *emu_table80(), *emu_table90(), *emu_selftest();

template <class T> T emu_word(uint64_t w) {
	static_assert(sizeof(T) == 8, "a kernel's parameter is a pointer, a long long or a double");
	T v;
	memcpy(&v, &w, sizeof v);
	return v;
}

template <auto F> struct EmuCall;
template <class... A, void (*F)(A...)> struct EmuCall<F> {
	static constexpr int words = sizeof...(A);
	template <size_t... I> static void spread(const uint64_t *w, std::index_sequence<I...>) { F(emu_word<A>(w[I])...); }
	static void call(const uint64_t *w) { spread(w, std::make_index_sequence<sizeof...(A)>()); }
};

#define EMU_KERNEL(name, threads) {#name, threads, EmuCall<&name>::words, EmuCall<&name>::call},
