// The engine that runs blocks, and declarations shared by the parts of the emulator.
#pragma once

#include "race.h"
#include "runtime.h"

#include <setjmp.h>
#include <stdio.h>
#include <deque>
#include <string>
#include <ucontext.h>

enum State { READY, AT_BARRIER, AT_WARP, DONE };

// A Location is a source line.
struct Location {
	const char *file;
	int line;

	// base returns the file's name without folders.
	const char *base() const {
		const char *slash = strrchr(file, '/');
		return slash ? slash + 1 : file;
	}
};

// A Copy is an unfinished asynchronous copy to shared memory; from is null for zeros.
struct Copy {
	void *to;
	const void *from;
	int bytes, group;
	void *pc; // the instruction that started it
};

// A Fiber begins with the 64 bytes that switching fibers reads.
struct alignas(64) Fiber {
	State state;
	bool orders; // whether it waits at a barrier that orders memory accesses
	int exchanges; // number of shuffles and gathers it has taken part in
	uint64_t slot[2]; // its values for them, used alternately
	Location location; // where it waits
	EmuDim thread;
	bool born;
	jmp_buf context;
	char *stack; // its lowest address
	std::string threw; // the message of an exception in the kernel
	std::deque<Copy> copies;
	int groups; // number of groups of copies that it has ended
};

struct Warp {
	int live;
	const void *gathered[2][32];
};

class Engine {
  public:
	static constexpr int most = 1024; // maximum number of threads per block
	static constexpr long stack = 64 << 10; // bytes per thread
	static constexpr long fence = 4 << 10; // bytes on each side of shared memory and below each stack
	static constexpr long watched = 512; // bytes of the fence below a stack that are checked
	static constexpr long most_shared = 256 << 10;

	char *shared = nullptr; // of the running block

	Engine();
	Engine(const Engine &) = delete;

	// open prepares the engine for the blocks of a kernel. It throws an exception for invalid
	// arguments.
	void open(const EmuKernel &kernel, int threads, long bytes, const uint64_t *words);

	// run runs the block blockIdx and returns an error message, or "".
	std::string run();

	// The fibers call these functions to wait for others and to exchange values within a warp.
	// Only barriers in the sources order memory accesses.
	void wait(State state, Location location, bool orders);
	uint64_t shuffle(uint64_t v, int mask, Location location);
	const void *const *gather(const void *p, Location location);

	// The fibers call these functions to start a copy, to end a group of copies, and to finish all
	// but the last left groups.
	void copy(void *to, const void *from, int bytes, void *pc);
	void commit() { fibers[current].groups++; }
	void land(int left);

  private:
	const EmuKernel *kernel = nullptr;
	const uint64_t *words = nullptr;
	int threads = 0, live = 0, current = 0;
	long bytes = 0;
	bool backwards = false; // run threads from the last to the first
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
