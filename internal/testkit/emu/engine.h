// The engine that runs blocks, and what the parts of the emulator share.
#pragma once

#include "race.h"
#include "runtime.h"

#include <setjmp.h>
#include <stdio.h>
#include <deque>
#include <string>
#include <ucontext.h>

enum State { READY, AT_BARRIER, AT_WARP, DONE };

// A Place is a line of the sources.
struct Place {
	const char *file;
	int line;

	// base is the file's name without its folders.
	const char *base() const {
		const char *slash = strrchr(file, '/');
		return slash ? slash + 1 : file;
	}
};

// A Copy is an asynchronous one to shared memory that has not landed; from is null for
// zeros.
struct Copy {
	void *to;
	const void *from;
	int bytes, group;
	void *pc; // place of the program that started it
};

// A Fiber's first 64 bytes are what changing places looks at.
struct alignas(64) Fiber {
	State state;
	bool orders;      // it waits at a barrier that orders what was done to memory
	int exchanges;    // how many shuffles and gathers it has taken part in
	uint64_t slot[2]; // what it gives to them, by turns
	Place place;      // where it waits
	EmuDim thread;
	bool born;
	jmp_buf context;
	char *stack;       // its lowest byte
	std::string threw; // what the kernel threw
	std::deque<Copy> copies;
	int groups; // of copies that it has ended
};

struct Warp {
	int live;
	const void *gathered[2][32];
};

class Engine {
  public:
	static constexpr int most = 1024;             // threads of a block
	static constexpr long stack = 64 << 10;       // bytes of a thread's stack
	static constexpr long fence = 4 << 10;        // bytes on each side of shared memory and below stacks
	static constexpr long watched = 512;          // of those below a stack
	static constexpr long most_shared = 256 << 10;

	char *shared = nullptr; // of the block that runs

	Engine();
	Engine(const Engine &) = delete;

	// open readies the engine for a kernel's blocks; it throws what is wrong.
	void open(const EmuKernel &kernel, int threads, long bytes, const uint64_t *words);

	// run runs the block blockIdx and returns what went wrong, or nothing.
	std::string run();

	// For the fibers: wait until the others come, exchange values in a warp.
	// Only barriers of the sources order what threads do to memory.
	void wait(State state, Place place, bool orders);
	uint64_t shuffle(uint64_t v, int mask, Place place);
	const void *const *gather(const void *p, Place place);

	// For the fibers: start a copy, end a group of them, and have all but the last
	// few groups land.
	void copy(void *to, const void *from, int bytes, void *pc);
	void commit() { fibers[current].groups++; }
	void land(int left);

  private:
	const EmuKernel *kernel = nullptr;
	const uint64_t *words = nullptr;
	int threads = 0, live = 0, current = 0;
	long bytes = 0;
	bool backwards = false; // threads take turns from the last to the first
	char *stacks = nullptr, *zone = nullptr;
	Fiber *fibers = nullptr;
	Warp warps[most / 32];
	jmp_buf scheduler;
	ucontext_t creator;

	bool took_part(int i) const;
	static void main(unsigned high, unsigned low);
	void body();
	void resume(int i);
	void birth(int i);
	void begin();
	void step(int i);
	bool warp(int w);
	bool meet(int from, int to, State state, int live);
	void schedule();
	void same(int from, int to, State state) const;
	std::string stuck() const;
	std::string faults();
	std::string describe(int i) const;
};
