//go:build cudaemu && cgo && racekernels

// This file records which thread accessed which memory, and after which barrier. Launches run one
// at a time and their blocks one after another (race.go), so no locks are needed.
#undef _FORTIFY_SOURCE

#include "race.h"
#include "runtime.h"

#include <stdlib.h>

// Code that runs within a hook must not call hooks.
#define QUIET __attribute__((no_sanitize("thread"), noinline))
#define QUIET_INLINE __attribute__((no_sanitize("thread"))) inline

// An Access is a read or a write. block numbers the blocks of all launches from 1, epoch counts
// the block's barriers, and turns the barriers of the warp since the block's last one.
struct Access {
	uint32_t block, epoch;
	uint32_t thread : 10, turns : 22;
	uint32_t pc; // relative to base
};

static const uint32_t pending = (1 << 22) - 1; // turns of an unfinished copy

// A LANDING write completes a copy that was pending.
enum Kind { READ, WRITE, LANDING };

// A Cell contains the last write and the readers since then. read has two readers of the block
// that read last: of different warps if two have read, else different threads of one warp between
// the same barriers if there are two. before is a reader of an earlier block. A write that is
// ordered after these readers is ordered after all readers.
struct Cell {
	Access write, read[2], before;
};

// Memory is tracked by words of eight bytes. After an access to a part of a word, the word is
// tracked by bytes.
struct Page {
	static constexpr int words = 512;
	Cell word[words];
	Cell *bytes[words]; // eight per word, or null
};

// A Finding is a race: two accesses, the earlier one first.
struct Finding {
	int64_t warp, shared;
	struct {
		int64_t block, thread, write, copy, pc;
	} side[2];
};

static const int most_findings = 16;
static const int halves = 1 << 18; // the page table has two levels of 18 bits each

static __thread bool in_kernel = false;
static uint32_t block, first_of_launch, epoch, turns[32];
static int thread_now, warp_now, findings;
static const char *shared_now, *stacks_now;
static uintptr_t shared_size, stacks_size;
static Page **table[halves];
static Finding found[most_findings];

static const uintptr_t base = (uintptr_t)&race_touch - (1u << 31);

QUIET bool race_code(bool runs) {
	bool before = in_kernel;
	in_kernel = runs;
	return before;
}

QUIET void race_block(const char *shared, long shared_bytes, const char *stacks, long stack_bytes) {
	block++;
	epoch = 1;
	for (uint32_t &t : turns)
		t = 0;
	shared_now = shared;
	shared_size = shared_bytes;
	stacks_now = stacks;
	stacks_size = stack_bytes;
}

QUIET void race_turn(int i) {
	thread_now = i;
	warp_now = i / 32;
}

QUIET void race_met(int warp) {
	if (warp >= 0) {
		turns[warp]++;
		return;
	}
	epoch++;
	for (uint32_t &t : turns)
		t = 0;
}

QUIET_INLINE static bool same_warp(const Access &a, const Access &b) { return a.thread / 32 == b.thread / 32; }

// current reports whether the access is of the same block between the same barriers.
QUIET_INLINE static bool current(const Access &a, const Access &now) { return a.block == now.block && a.epoch == now.epoch; }

// ordered reports whether old precedes now by a barrier or because both are of the same thread.
// Launches are ordered. For shared memory, which is new for each block, blocks are ordered too.
QUIET_INLINE static bool ordered(const Access &old, const Access &now, bool shared) {
	if (old.block != now.block)
		return old.block < first_of_launch || shared;
	if (old.turns == pending)
		return false;
	if (old.epoch != now.epoch || old.thread == now.thread)
		return true;
	return same_warp(old, now) && old.turns < turns[warp_now]; // now.turns of a copy is pending
}

QUIET static void report(const Access &a, bool a_write, const Access &b, bool b_write, bool shared) {
	for (int i = 0; i < findings; i++)
		if (found[i].side[0].pc == (int64_t)(base + a.pc) && found[i].side[1].pc == (int64_t)(base + b.pc))
			return;
	if (findings == most_findings)
		return;
	Finding &f = found[findings++];
	f.warp = a.block == b.block && same_warp(a, b);
	f.shared = shared;
	f.side[0] = {a.block - first_of_launch, a.thread, a_write, a.turns == pending, (int64_t)(base + a.pc)};
	f.side[1] = {b.block - first_of_launch, b.thread, b_write, b.turns == pending, (int64_t)(base + b.pc)};
}

QUIET_INLINE static void reading(Cell &c, const Access &now) {
	Access *r = c.read;
	if (!current(r[0], now)) {
		if (r[0].block != now.block)
			c.before = r[0];
		r[0] = now;
		r[1] = {};
	} else if (r[0].thread == now.thread || (same_warp(r[0], now) && r[0].turns < now.turns))
		r[0] = now;
	else if (!current(r[1], now) || r[1].thread == now.thread || same_warp(r[0], r[1]))
		r[1] = now;
}

QUIET_INLINE static void touch(Cell &c, const Access &now, Kind kind, bool shared) {
	if (kind == LANDING) {
		if (c.write.block == now.block && c.write.turns == pending && c.write.thread == now.thread)
			c.write = now;
		return;
	}
	if (c.write.block && !ordered(c.write, now, shared))
		report(c.write, true, now, kind == WRITE, shared);
	if (kind == READ) {
		reading(c, now);
		return;
	}
	for (int i = 0; i < 2; i++)
		if (c.read[i].block && !ordered(c.read[i], now, shared))
			report(c.read[i], false, now, true, shared);
	if (c.before.block && !ordered(c.before, now, shared))
		report(c.before, false, now, true, shared);
	c = {};
	c.write = now;
}

QUIET_INLINE static Page *page(uintptr_t at) {
	uintptr_t number = at / 8 / Page::words;
	Page **&half = table[number / halves % halves];
	if (!half)
		half = (Page **)calloc(halves, sizeof(Page *));
	Page *&p = half[number % halves];
	if (!p)
		p = (Page *)calloc(1, sizeof(Page));
	return p;
}

QUIET static void span(uintptr_t at, long bytes, Kind kind, const Access &now, bool shared) {
	for (uintptr_t end = at + bytes; at < end;) {
		Page *p = page(at);
		int i = at / 8 % Page::words, from = at % 8, to = end - at + from < 8 ? int(end - at) + from : 8;
		if (to - from < 8 && !p->bytes[i]) {
			p->bytes[i] = (Cell *)malloc(8 * sizeof(Cell));
			for (int b = 0; b < 8; b++)
				p->bytes[i][b] = p->word[i];
		}
		if (p->bytes[i])
			for (int b = from; b < to; b++)
				touch(p->bytes[i][b], now, kind, shared);
		else
			touch(p->word[i], now, kind, shared);
		at += to - from;
	}
}

QUIET_INLINE static Access access(void *pc) {
	Access a;
	a.block = block;
	a.epoch = epoch;
	a.thread = thread_now;
	a.turns = turns[warp_now];
	a.pc = uint32_t((uintptr_t)pc - base);
	return a;
}

QUIET_INLINE static bool in_shared(const void *at) { return (uintptr_t)at - (uintptr_t)shared_now < shared_size; }

QUIET void race_touch(const void *at, long bytes, bool write, void *pc) {
	if ((uintptr_t)at - (uintptr_t)stacks_now < stacks_size)
		return;
	for (const EmuDim *d : {&threadIdx, &blockIdx, &blockDim, &gridDim})
		if ((uintptr_t)at - (uintptr_t)d < sizeof *d)
			return;
	span((uintptr_t)at, bytes, write ? WRITE : READ, access(pc), in_shared(at));
}

QUIET void race_copy(const void *to, const void *from, long bytes, void *pc) {
	Access now = access(pc);
	if (from)
		span((uintptr_t)from, bytes, READ, now, in_shared(from));
	now.turns = pending;
	span((uintptr_t)to, bytes, WRITE, now, in_shared(to));
}

QUIET void race_landed(const void *to, const void *from, long bytes, void *pc) {
	Access now = access(pc);
	if (from)
		span((uintptr_t)from, bytes, READ, now, in_shared(from));
	span((uintptr_t)to, bytes, LANDING, now, in_shared(to));
}

extern "C" {

QUIET void race_launch() {
	first_of_launch = block + 1;
	findings = 0;
}

QUIET int race_findings(Finding *to) {
	for (int i = 0; i < findings; i++)
		to[i] = found[i];
	return findings;
}

// race_here returns its own address, from which lines.go computes the load offset of the program.
QUIET int64_t race_here() { return (int64_t)(uintptr_t)&race_here; }

#define HOOK(name, bytes, write)                                                  \
	QUIET void name(void *at) {                                                   \
		if (in_kernel)                                                            \
			race_touch(at, bytes, write, __builtin_return_address(0));            \
	}
#define HOOKS(bytes)                               \
	HOOK(__tsan_read##bytes, bytes, false)         \
	HOOK(__tsan_write##bytes, bytes, true)         \
	HOOK(__tsan_unaligned_read##bytes, bytes, false) \
	HOOK(__tsan_unaligned_write##bytes, bytes, true)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

QUIET void __tsan_read_range(void *at, unsigned long bytes) {
	if (in_kernel)
		race_touch(at, bytes, false, __builtin_return_address(0));
}

QUIET void __tsan_write_range(void *at, unsigned long bytes) {
	if (in_kernel)
		race_touch(at, bytes, true, __builtin_return_address(0));
}

// Only the engine uses atomics; kernels have none.
#define ATOMIC(bits, type)                                                                                                \
	QUIET type __tsan_atomic##bits##_load(const volatile type *at, int) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); } \
	QUIET void __tsan_atomic##bits##_store(volatile type *at, type v, int) { __atomic_store_n(at, v, __ATOMIC_SEQ_CST); } \
	QUIET type __tsan_atomic##bits##_fetch_add(volatile type *at, type v, int) { return __atomic_fetch_add(at, v, __ATOMIC_SEQ_CST); }
ATOMIC(8, int8_t)
ATOMIC(64, int64_t)

QUIET void __tsan_func_entry(void *) {}
QUIET void __tsan_func_exit() {}
QUIET void __tsan_init() {}
QUIET void __tsan_vptr_update(void **, void *) {}
QUIET void __tsan_vptr_read(void **) {}
}
