// The detector of races: what the engine tells it, and what it found. Only a build
// with the tag racekernels has one; in others these functions do nothing.
//
// The kernels are then compiled with -fsanitize=thread, which calls a function
// (__tsan_read8 and so on) for each of their accesses to memory; race.cpp has these
// functions in place of that sanitizer's library. All other code of the emulator
// is compiled alike, but counts only while a kernel's own code runs: a RaceQuiet
// stands at the door.
#pragma once

#include <stdint.h>

#ifdef VSSGP_RACE

// race_block: a block begins, with its shared memory and its threads' stacks, which
// are nobody else's.
void race_block(const char *shared, long shared_bytes, const char *stacks, long stack_bytes);

// race_turn: from now on the block's thread i runs.
void race_turn(int i);

// race_met: the block's threads, or a warp's (−1: all), have met at a barrier that
// orders what they did to memory.
void race_met(int warp);

// race_touch: the thread reads or writes memory, at the place pc of the program.
void race_touch(const void *at, long bytes, bool write, void *pc);

// race_copy: the thread starts an asynchronous copy, at the place pc of the program;
// from is null where zeros are written. race_landed: it has waited for it. In
// between nobody may touch to, the thread itself no more than others.
void race_copy(const void *to, const void *from, long bytes, void *pc);
void race_landed(const void *to, const void *from, long bytes, void *pc);

// race_code: whether a kernel's code runs. It returns what held before.
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
