//go:build cudaemu && cgo

#undef _FORTIFY_SOURCE // its longjmp rejects a change of stacks

#include "engine.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

// unset is the initial content of shared memory, a NaN as a double and as two floats. guard is the
// content of its fences and of the ends of stacks.
static const uint64_t unset = 0x7ff8dead7ff8dead, guard = 0x5afe5afe5afe5afe;

__thread EmuDim threadIdx, blockIdx, blockDim, gridDim;

static void fill(char *from, long bytes, uint64_t word) {
	std::fill((uint64_t *)from, (uint64_t *)(from + bytes), word);
}

static char *map(long bytes) {
	void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		throw std::runtime_error("no memory for the emulator's stacks");
	return (char *)p;
}

// The pages beyond the fences of shared memory are inaccessible.
Engine::Engine() {
	fibers = new Fiber[most]();
	stacks = map(most * (stack + fence));
	long page = std::max<long>(sysconf(_SC_PAGESIZE), fence);
	zone = map(2 * page + 2 * fence + most_shared);
	mprotect(zone, page, PROT_NONE);
	mprotect(zone + page + 2 * fence + most_shared, page, PROT_NONE);
	shared = zone + page + fence;
	for (int i = 0; i < most; i++) {
		fibers[i].stack = stacks + i * (stack + fence) + fence;
		fibers[i].thread = {0, 0, 0};
	}
}

void Engine::open(const EmuKernel &k, int n, long size, const uint64_t *w) {
	if (n < 1 || n > most)
		throw std::runtime_error("a block has " + std::to_string(n) + " threads, must be 1 to 1024");
	if (size < 0 || size > most_shared)
		throw std::runtime_error("a block has " + std::to_string(size) + " bytes of shared memory, must be at most 262144");
	kernel = &k;
	words = w;
	threads = n;
	bytes = size;
}

// A fiber runs one block after another. It is recreated only after a fault.
void Engine::main(unsigned high, unsigned low) {
	Engine *e = (Engine *)((uintptr_t)high << 32 | low);
	for (;;)
		e->body();
}

void Engine::body() {
	Fiber &f = fibers[current];
	race_code(true);
	try {
		kernel->call(words);
		race_code(false);
	} catch (const std::exception &e) {
		race_code(false);
		f.threw = e.what();
	} catch (...) {
		race_code(false);
		f.threw = "an exception that is not a std::exception";
	}
	f.state = DONE;
	if (!_setjmp(f.context))
		_longjmp(scheduler, 1);
}

void Engine::birth(int i) {
	Fiber &f = fibers[i];
	fill(f.stack - watched, watched, guard);
	ucontext_t u;
	getcontext(&u);
	u.uc_stack.ss_sp = f.stack;
	u.uc_stack.ss_size = stack;
	u.uc_link = nullptr;
	uintptr_t self = (uintptr_t)this;
	makecontext(&u, (void (*)())main, 2, (unsigned)(self >> 32), (unsigned)self);
	f.born = true;
	swapcontext(&creator, &u);
}

void Engine::resume(int i) {
	current = i;
	race_turn(i);
	threadIdx = fibers[i].thread;
	if (_setjmp(scheduler))
		return;
	if (!fibers[i].born)
		birth(i);
	_longjmp(fibers[i].context, 1);
}

void Engine::wait(State state, Location location, bool orders) {
	Fiber &f = fibers[current];
	f.state = state;
	f.orders = orders;
	f.location = location;
	if (!_setjmp(f.context))
		_longjmp(scheduler, 1);
}

// An exchange alternates between two slots: a lane can write its next value before another lane
// has read the current one, but not the value after that.
bool Engine::took_part(int i) const { return i < threads && fibers[i].exchanges >= fibers[current].exchanges; }

uint64_t Engine::shuffle(uint64_t v, int mask, Location location) {
	int me = current, turn = fibers[me].exchanges++ & 1, other = me ^ mask;
	if (mask < 0 || mask > 31)
		throw std::runtime_error("shuffle_xor has the mask " + std::to_string(mask) + ", must be 0 to 31");
	fibers[me].slot[turn] = v;
	wait(AT_WARP, location, false);
	return took_part(other) ? fibers[other].slot[turn] : unset;
}

const void *const *Engine::gather(const void *p, Location location) {
	int me = current, turn = fibers[me].exchanges++ & 1;
	Warp &w = warps[me / 32];
	w.gathered[turn][me % 32] = p;
	wait(AT_WARP, location, false);
	for (int i = me / 32 * 32; i < me / 32 * 32 + 32; i++)
		if (!took_part(i))
			throw std::runtime_error("warp_gather without all 32 threads of the warp: thread " + std::to_string(i) + " is missing");
	return w.gathered[turn];
}

void Engine::copy(void *to, const void *from, int bytes, void *pc) {
	Fiber &f = fibers[current];
	if ((uintptr_t)to % bytes != 0 || (uintptr_t)from % bytes != 0)
		throw std::runtime_error("an asynchronous copy of " + std::to_string(bytes) + " bytes is not aligned");
	fill((char *)to, bytes, unset);
	race_copy(to, from, bytes, pc);
	f.copies.push_back({to, from, bytes, f.groups, pc});
}

void Engine::land(int left) {
	Fiber &f = fibers[current];
	for (; !f.copies.empty() && f.copies.front().group < f.groups - left; f.copies.pop_front()) {
		const Copy &c = f.copies.front();
		if (c.from)
			memcpy(c.to, c.from, c.bytes);
		else
			memset(c.to, 0, c.bytes);
		race_landed(c.to, c.from, c.bytes, c.pc);
	}
}

void Engine::begin() {
	fill(shared - fence, fence, guard);
	long whole = (bytes + 7) / 8 * 8;
	fill(shared, whole, unset);
	memset(shared + bytes, 0x5a, whole - bytes);
	fill(shared + whole, fence, guard);
	live = threads;
	race_block(shared, most_shared, stacks, most * (stack + fence));
	for (int i = 0; i < threads; i++) {
		Fiber &f = fibers[i];
		f.state = READY;
		f.exchanges = 0;
		f.threw.clear();
		f.copies.clear();
		f.groups = 0;
		unsigned x = i % blockDim.x, y = i / blockDim.x % blockDim.y, z = i / blockDim.x / blockDim.y;
		f.thread = {x, y, z};
	}
	for (int w = 0; w * 32 < threads; w++)
		warps[w].live = std::min(32, threads - 32 * w);
}

std::string Engine::describe(int i) const {
	const Fiber &f = fibers[i];
	std::string s = "thread " + std::to_string(i);
	if (f.state == DONE)
		return s + " has returned";
	return s + (f.state == AT_BARRIER ? " is at a barrier of the block, " : " is at a barrier of the warp, ") +
		   f.location.base() + ":" + std::to_string(f.location.line);
}

// same throws an exception if threads wait for each other at different lines.
void Engine::same(int from, int to, State state) const {
	int first = -1;
	for (int i = from; i < to; i++) {
		if (fibers[i].state != state)
			continue;
		if (first < 0)
			first = i;
		const Location &a = fibers[first].location, &b = fibers[i].location;
		if (a.line != b.line || (a.file != b.file && strcmp(a.file, b.file) != 0))
			throw std::runtime_error("threads meet at different barriers: " + describe(first) + ", " + describe(i));
	}
}

// stuck describes the first waiting thread and a thread that waits elsewhere.
std::string Engine::stuck() const {
	int first = 0;
	while (fibers[first].state == DONE)
		first++;
	for (int i = first + 1; i < threads; i++) {
		const Fiber &a = fibers[first], &b = fibers[i];
		if (b.state != a.state || a.location.line != b.location.line)
			return "threads wait for each other forever: " + describe(first) + ", " + describe(i);
	}
	return "threads wait for each other forever: " + describe(first);
}

// step runs thread i until it waits or returns.
void Engine::step(int i) {
	resume(i);
	if (fibers[i].state == DONE) {
		live--;
		warps[i / 32].live--;
		if (!fibers[i].threw.empty())
			throw std::runtime_error("thread " + std::to_string(i) + " threw: " + fibers[i].threw);
	}
}

// meet resumes threads if all live threads have reached the barrier.
bool Engine::meet(int from, int to, State state, int live) {
	int waits = 0;
	for (int i = from; i < to; i++)
		waits += fibers[i].state == state;
	if (waits == 0 || waits != live)
		return false;
	same(from, to, state);
	bool orders = false;
	for (int i = from; i < to; i++)
		if (fibers[i].state == state) {
			fibers[i].state = READY;
			orders |= fibers[i].orders;
		}
	if (orders)
		race_met(state == AT_BARRIER ? -1 : from / 32);
	return true;
}

// warp runs a warp's threads until they wait for other warps or return. It reports whether any
// thread ran.
bool Engine::warp(int w) {
	int from = 32 * w, to = std::min(threads, from + 32);
	bool moved = false;
	do {
		for (int n = from; n < to; n++) {
			int i = backwards ? to - 1 - (n - from) : n;
			if (fibers[i].state == READY) {
				step(i);
				moved = true;
			}
		}
	} while (meet(from, to, AT_WARP, warps[w].live));
	return moved;
}

// schedule runs the warps in turn until all threads have returned.
void Engine::schedule() {
	int last = (threads - 1) / 32;
	while (live > 0) {
		bool moved = false;
		for (int w = 0; w <= last; w++)
			moved |= warp(backwards ? last - w : w);
		if (!meet(0, threads, AT_BARRIER, live) && live > 0 && !moved)
			throw std::runtime_error(stuck());
	}
}

// faults reports writes outside shared memory and stack overflows.
std::string Engine::faults() {
	const unsigned char *s = (const unsigned char *)shared, *g = (const unsigned char *)&guard;
	for (long i = 1; i <= fence; i++)
		if (s[-i] != g[(8 - i % 8) % 8])
			return "a thread wrote " + std::to_string(i) + " bytes before shared memory";
	long whole = (bytes + 7) / 8 * 8;
	for (long i = bytes; i < whole + fence; i++)
		if (s[i] != (i < whole ? 0x5a : g[i % 8]))
			return "a thread wrote at byte " + std::to_string(i) + " of " + std::to_string(bytes) + " bytes of shared memory";
	for (int i = 0; i < threads; i++)
		for (int k = 1; k <= watched / 8; k++)
			if (((uint64_t *)fibers[i].stack)[-k] != guard)
				return "thread " + std::to_string(i) + " needs more than 65536 bytes of stack";
	return "";
}

static std::atomic<bool> turned_round{false};

extern "C" void emu_backwards(int on) { turned_round = on != 0; }

std::string Engine::run() {
	backwards = turned_round;
	begin();
	std::string why;
	try {
		schedule();
		why = faults();
	} catch (const std::exception &e) {
		why = e.what();
	}
	if (!why.empty())
		for (int i = 0; i < most; i++)
			fibers[i].born = false;
	return why;
}
