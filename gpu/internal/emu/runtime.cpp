//go:build cudaemu && cgo

// The scheduler: an Engine runs the blocks that an operating-system thread receives. Engines and
// their stacks are kept for reuse.
#undef _FORTIFY_SOURCE // its longjmp rejects a change of stacks

#include "engine.h"

#include <atomic>
#include <mutex>
#include <vector>

static __thread Engine *running;

// The barrier that LeaveOut removed, and how many times a thread has passed it.
static char left_file[64];
static int left_line = 0;
static std::atomic<long> left_out{0};

extern "C" void emu_leave_out(const char *file, int line) {
	snprintf(left_file, sizeof left_file, "%s", file);
	left_line = line;
	left_out = 0;
}

extern "C" long emu_left_out() { return left_out; }

static void meet(State state, Location location) {
	RaceQuiet quiet;
	if (location.line == left_line && !strcmp(location.base(), left_file))
		left_out++;
	else
		running->wait(state, location, true);
}

void *emu_shared() { return running->shared; }
void emu_barrier(const char *file, int line) { meet(AT_BARRIER, {file, line}); }
void emu_warp_barrier(const char *file, int line) { meet(AT_WARP, {file, line}); }

void emu_warp_meet(const char *file, int line) {
	RaceQuiet quiet;
	running->wait(AT_WARP, {file, line}, false);
}

uint64_t emu_shuffle(uint64_t v, int mask, const char *file, int line) {
	RaceQuiet quiet;
	return running->shuffle(v, mask, {file, line});
}

const void *const *emu_warp_gather(const void *p, const char *file, int line) {
	RaceQuiet quiet;
	return running->gather(p, {file, line});
}

void emu_copy(void *to, const void *from, int bytes) {
	RaceQuiet quiet;
	running->copy(to, from, bytes, __builtin_return_address(0));
}

void emu_copy_commit() {
	RaceQuiet quiet;
	running->commit();
}

void emu_copy_wait(int left) {
	RaceQuiet quiet;
	running->land(left);
}

static std::mutex idle_lock;
static std::vector<Engine *> idle;

// A Lease is an idle engine or a new one. Its destructor returns the engine to the idle ones.
struct Lease {
	Engine *engine = nullptr;
	Lease() {
		std::lock_guard<std::mutex> lock(idle_lock);
		if (!idle.empty()) {
			engine = idle.back();
			idle.pop_back();
		} else
			engine = new Engine;
		running = engine;
	}
	~Lease() {
		running = nullptr;
		std::lock_guard<std::mutex> lock(idle_lock);
		idle.push_back(engine);
	}
};

static EmuDim dim(const unsigned *d) { return {d[0], d[1], d[2]}; }

static const EmuKernel *emu_table(int arch) {
	switch (arch) {
	case 80:
		return emu_table80();
	case 90:
		return emu_table90();
	case 0:
		return emu_selftest();
	}
	return nullptr;
}

extern "C" int emu_count(int arch) {
	int n = 0;
	for (const EmuKernel *k = emu_table(arch); k && k->name; k++)
		n++;
	return n;
}

extern "C" const char *emu_name(int arch, int i) { return emu_table(arch)[i].name; }
extern "C" int emu_threads(int arch, int i) { return emu_table(arch)[i].threads; }
extern "C" int emu_words(int arch, int i) { return emu_table(arch)[i].words; }

// emu_run runs a block of kernel i and writes an error message, or "", to message.
extern "C" void emu_run(int arch, int i, const unsigned *grid, const unsigned *block, long shared, const uint64_t *words,
						int64_t at, char *message, long size) {
	const EmuKernel &kernel = emu_table(arch)[i];
	std::string why;
	try {
		Lease lease;
		gridDim = dim(grid);
		blockDim = dim(block);
		lease.engine->open(kernel, block[0] * block[1] * block[2], shared, words);
		blockIdx = {unsigned(at % grid[0]), unsigned(at / grid[0] % grid[1]), unsigned(at / grid[0] / grid[1])};
		why = lease.engine->run();
	} catch (const std::exception &e) {
		why = e.what();
	} catch (...) {
		why = "an exception that is not a std::exception was thrown";
	}
	snprintf(message, size, "%s", why.c_str());
}
