// The interface between the engine and the race detector, which exists only in builds with the tag
// racekernels. In other builds these functions do nothing.
//
// The kernels are then compiled with -fsanitize=thread, which calls a function (__tsan_read8 and
// so on) for each access to memory; race.cpp implements these functions in place of the
// sanitizer's library. All other code of the emulator is compiled in the same way, but its accesses
// are not recorded: a RaceQuiet disables recording while it runs.
#pragma once

#include <stdint.h>

#ifdef VSSGP_RACE

// race_block begins a block with its shared memory and the stacks of its threads. Stacks are not
// checked, because local memory is private to a thread.
void race_block(const char *shared, long shared_bytes, const char *stacks, long stack_bytes);

// race_turn selects the block's thread i as the running thread.
void race_turn(int i);

// race_met records that the threads of a warp, or of the block if warp is −1, have met at a
// barrier that orders their memory accesses.
void race_met(int warp);

// race_touch records a read or write of memory by the instruction at pc.
void race_touch(const void *at, long bytes, bool write, void *pc);

// race_copy records the start of an asynchronous copy by the instruction at pc; from is null for
// zeros. race_landed records that the thread has waited for it. In between no thread may access
// to, not even the thread itself.
void race_copy(const void *to, const void *from, long bytes, void *pc);
void race_landed(const void *to, const void *from, long bytes, void *pc);

// race_code sets whether a kernel's code runs and returns the previous value.
bool race_code(bool runs);

struct RaceQuiet {
	bool before = race_code(false);
	~RaceQuiet() { race_code(before); }
};

#else

inline void race_block(const char *, long, const char *, long) {}
inline void race_turn(int) {}
inline void race_met(int) {}
inline void race_touch(const void *, long, bool, void *) {}
inline void race_copy(const void *, const void *, long, void *) {}
inline void race_landed(const void *, const void *, long, void *) {}
inline bool race_code(bool) { return false; }
struct RaceQuiet {
	~RaceQuiet() {}
};

#endif
