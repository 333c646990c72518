// Kernels for the emulator's tests: correct ones, and one for each fault.

// self_sum computes the sum of a block's numbers by halving: out[block] = Σ x.
KERNEL(128) self_sum(const double *x, double *out) {
	SHARED(double, s);
	int i = threadIdx.x;
	s[i] = x[blockIdx.x * blockDim.x + i];
	for (int half = 64; half > 0; half /= 2) {
		barrier();
		if (i < half)
			s[i] += s[i + half];
	}
	if (i == 0)
		out[blockIdx.x] = s[0];
}

// self_shuffle adds the sum of a warp's numbers, which all lanes receive, and the number of the
// lane three positions ahead.
KERNEL(64) self_shuffle(double *out) {
	double v = threadIdx.x, next = shuffle(v, (threadIdx.x + 3) % 32);
	for (int mask = 1; mask < 32; mask *= 2)
		v += shuffle_xor(v, mask);
	out[threadIdx.x] = v + 1e6 * next;
}

// self_gather makes each lane read the values of all lanes of its warp, twice.
KERNEL(64) self_gather(double *out) {
	double own = threadIdx.x, sum = 0;
	for (int turn = 0; turn < 2; turn++) {
		const void *const *all = warp_gather(&own);
		for (int lane = 0; lane < 32; lane++)
			sum += *(const double *)all[lane];
		warp_meet();
		own *= 2;
	}
	out[threadIdx.x] = sum;
}

// self_early makes threads return before barriers that the others reach.
KERNEL(96) self_early(double *out, long long n) {
	SHARED(double, s);
	if (threadIdx.x >= n)
		return;
	s[threadIdx.x] = threadIdx.x;
	warp_barrier();
	barrier();
	out[threadIdx.x] = s[n - 1 - threadIdx.x];
}

KERNEL(64) self_divergent(long long n) {
	if (threadIdx.x < n)
		barrier();
	else
		warp_barrier();
	barrier();
}

KERNEL(64) self_mixed() {
	if (threadIdx.x < 32)
		barrier();
	else
		barrier();
}

KERNEL(64) self_missing(long long n) {
	if (threadIdx.x >= n)
		return;
	warp_gather(&n);
}

KERNEL(32) self_outside(long long at) {
	SHARED(char, s);
	if (threadIdx.x == 0)
		s[at] = 1;
}

KERNEL(32) self_unset(double *out) {
	SHARED(double, s);
	SHARED(float, f);
	out[blockIdx.x * 32 + threadIdx.x] = (isnan(s[threadIdx.x]) ? 1 : 0) + (isnan(f[threadIdx.x]) ? 2 : 0);
	barrier();
	s[threadIdx.x] = 0;
}

KERNEL(32) self_throws(long long block) {
	if (blockIdx.x == block && threadIdx.x == 7)
		throw std::runtime_error("on purpose");
}

KERNEL(32) self_deep(double *out) {
	volatile char big[64 << 10];
	for (unsigned i = 0; i < sizeof big; i++)
		big[i] = 1;
	out[threadIdx.x] = big[threadIdx.x];
}

// self_feature computes the functions of a feature: [n][sine, cosine, exp(−quad/2)].
KERNEL(32) self_feature(const double *turns, const double *quad, double *out, long long n) {
	for (long long i = 32 * (long long)blockIdx.x + threadIdx.x; i < n; i += 32 * (long long)gridDim.x) {
		sincos_turns(turns[i], out[3 * i], out[3 * i + 1]);
		out[3 * i + 2] = decayed(quad[i]);
	}
}

// race_warps makes one warp read values of another warp, with a barrier in between if barriers is
// 1.
KERNEL(64) race_warps(double *out, long long barriers) {
	SHARED(double, s);
	if (threadIdx.x < 32)
		s[threadIdx.x] = 1;
	if (barriers == 1)
		barrier();
	if (threadIdx.x >= 32)
		out[threadIdx.x] = s[threadIdx.x - 32];
}

// race_overwrites makes one warp overwrite values that another has read.
KERNEL(64) race_overwrites(double *out, long long barriers) {
	SHARED(double, s);
	s[threadIdx.x] = 1;
	barrier();
	if (threadIdx.x < 32)
		out[threadIdx.x] = s[threadIdx.x + 32];
	if (barriers == 1)
		barrier();
	if (threadIdx.x >= 32)
		s[threadIdx.x] = 2;
}

// race_twice makes both warps write the same locations.
KERNEL(64) race_twice(long long barriers) {
	SHARED(double, s);
	if (threadIdx.x < 32)
		s[threadIdx.x] = 1;
	if (barriers == 1)
		barrier();
	if (threadIdx.x >= 32)
		s[threadIdx.x - 32] = 2;
}

// race_lanes makes a thread read the value of its neighbor in the warp. A meeting (1) or a shuffle
// (2) does not order memory accesses, a barrier of the warp (3) does.
KERNEL(32) race_lanes(double *out, long long what) {
	SHARED(double, s);
	s[threadIdx.x] = 1;
	if (what == 1)
		warp_meet();
	if (what == 2)
		shuffle_xor(1, 1);
	if (what == 3)
		warp_barrier();
	out[threadIdx.x] = s[threadIdx.x ^ 1];
}

// race_other_warp has a barrier of the warp although a barrier of the block is needed.
KERNEL(64) race_other_warp(double *out) {
	SHARED(double, s);
	s[threadIdx.x] = 1;
	warp_barrier();
	out[threadIdx.x] = s[threadIdx.x ^ 32];
}

// race_blocks makes all blocks write the same number in device memory, or different ones if stride
// is 1.
KERNEL(32) race_blocks(double *out, long long stride) {
	if (threadIdx.x == 0)
		out[stride * blockIdx.x] = 1;
}

// race_reads_blocks makes blocks read a value that one of them writes.
KERNEL(32) race_reads_blocks(double *out, double *kept, long long writes) {
	if (blockIdx.x != writes)
		kept[blockIdx.x * 32 + threadIdx.x] = out[0];
	else if (threadIdx.x == 0)
		out[0] = 1;
}

// race_bytes makes threads write neighboring bytes and read the byte at distance apart; 0 is their
// own byte.
KERNEL(64) race_bytes(double *out, long long apart) {
	SHARED(signed char, s);
	s[threadIdx.x] = 1;
	if (threadIdx.x < 32)
		out[threadIdx.x] = s[threadIdx.x + apart];
}

// race_copies makes each thread copy a number. If when is 1, it reads the number before its copy
// has finished; if 2, the number of another warp between barriers; if 3, the finished number of
// another warp without a barrier; if 4, it starts a second copy to the same address before the
// first has finished. If 0, there is no race.
KERNEL(64) race_copies(const double *x, double *out, long long when) {
	SHARED(double, s);
	int i = threadIdx.x;
	copy_async(s + i, x + i, true);
	copy_commit();
	if (when == 1)
		out[i] = s[i];
	if (when == 2) {
		barrier();
		out[i] = s[i ^ 32];
		barrier();
	}
	if (when == 4)
		copy_async(s + i, x, false);
	copy_commit();
	copy_wait<0>();
	out[i] = s[i];
	if (when != 3)
		barrier();
	out[i] = s[i ^ 32];
}
