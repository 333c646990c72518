#!/usr/bin/env python3
"""Times one evaluation of the exact bound and its gradient in other libraries.

    bench speed -n 16000 -features 800 -peers numpy,torch,jax    runs this
    bench speed -n 16000 -features 800 -dump DIR
    speed.py bound DIR --peer numpy,torch,jax --device cpu
    speed.py rates --device cuda

bound reads a synthetic problem with the bound and the gradient computed by this
project. Each peer computes the same collapsed bound in float64: NumPy (with
OpenBLAS) with the gradient derived by hand, PyTorch and JAX by automatic
differentiation. Bound and gradient are compared with ours before timing.

Each peer prints one line of JSON: peer, version, device, n, features,
seconds_per_evaluation (median), seconds_range, first_seconds (including
compilation), peak_bytes (memory of the GPU, or of the process on the CPU), bound,
bound_difference (relative), gradient_difference (the maximum over the tensors,
relative to the largest element of each), status. If a peer is missing or runs out
of memory, its status contains the reason. The exit status is 1 if a peer disagrees
or fails.

rates measures the rates that torch reaches on the same machine. Each line has
case, seconds_per_evaluation, and tflops or gbytes_per_second. The cases are DGEMM,
which is the peak for shares (2·size³ operations), ΦᵀΦ of an N×M matrix (2·N·M²),
the Cholesky factor potrf (M³/3), the inverse from it potri (2·M³/3), int8 products
with sums in int32, and copies of pageable and pinned memory to the GPU and back.

--out FILE also appends each line to a file as soon as it is complete.
"""

import argparse
import json
import os
import subprocess
import sys

from peer import Missing, first, first_line, measured, process_peak, timed

# By default JAX allocates three quarters of the GPU's memory at its first use.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# Every library must select its kernels without restrictions. Environment variables
# that slow it down would favor us.
for name in ("OPENBLAS_CORETYPE", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR", "NPY_DISABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA"):
    os.environ.pop(name, None)

BOUND_TOLERANCE = 1e-9
GRADIENT_TOLERANCE = 1e-6
TENSORS = ["kernel.variance", "kernel.lengthscale", "kernel.frequency", "inducing.location", "frequency.mean",
           "frequency.variance", "phase.lower", "phase.upper", "noise.precision"]
ROWS = 512  # rows in a block; from 256 to 1024, the time varies by less than 5 %


class Problem:
    """A folder written by `bench speed -dump`."""

    def __init__(self, folder):
        import numpy as np
        with open(os.path.join(folder, "problem.json"), encoding="utf-8") as f:
            info = json.load(f)
        if info["inference"] != "exact" or info["windows"]:
            raise SystemExit("speed.py: the peers compute the exact bound without windows; dump such a problem")
        self.k, self.info, self.bound = info["features_per_component"], info, info["bound"]

        def load(name):
            return np.load(os.path.join(folder, name + ".npy"))
        self.x, self.y = load("x"), load("y")
        self.params = {t: load(t) for t in TENSORS}
        self.gradient = {t: load("gradient." + t) for t in TENSORS}


def bound(xp, sinc, logdet_solve, diagonal_of, p, x, y, k):
    """Returns the collapsed bound, computed with operations that numpy, torch and jax.numpy share.

    P = Σ/l², ω = μ/l + 2πp, c = (α+β)/2, h = (β−α)/2,
    E[φ]  = √(2σ²/K) sinc h · exp(−½ Σ P d²) cos θ,   θ = Σ ω d + c
    E[φ²] = σ²/K (1 + sinc 2h · exp(−2 Σ P d²) cos 2θ)
    """
    pi = 3.141592653589793
    n, d = y.shape
    variance, l, frequency = (repeat(xp, p[t], k) for t in TENSORS[:3])
    z, mu, sigma = p["inducing.location"], p["frequency.mean"], p["frequency.variance"]
    low, high, tau = p["phase.lower"], p["phase.upper"], p["noise.precision"][0]
    decay, omega = sigma / l**2, mu / l + 2 * pi * frequency
    center, half = (low + high) / 2, (high - low) / 2
    theta, quad = center, 0.0
    for q in range(x.shape[1]):
        diff = x[:, q, None] - z[None, :, q]
        theta = theta + omega[:, q] * diff
        quad = quad + decay[:, q] * diff**2
    share = variance / k
    phi = xp.sqrt(2 * share) * sinc(half) * xp.exp(-0.5 * quad) * xp.cos(theta)
    second = share * (n + sinc(2 * half) * (xp.exp(-2 * quad) * xp.cos(2 * theta)).sum(0))
    gram = phi.T @ phi
    a = gram + diagonal_of(second - (phi**2).sum(0) + 1 / tau)
    c = phi.T @ y
    logdet, mean = logdet_solve(a, c)
    m = phi.shape[1]
    fit = -0.5 * tau * ((y**2).sum() - (c * mean).sum())
    kl = 0.5 * (sigma + mu**2 - 1 - xp.log(sigma)).sum() + xp.log(2 * pi / (high - low)).sum()
    return -0.5 * n * d * xp.log(2 * pi / tau) + fit - 0.5 * (d * m * xp.log(tau) + d * logdet) - kl


def repeat(xp, a, k):
    """Repeats the row of each component for each of its features."""
    return a.repeat_interleave(k, 0) if hasattr(a, "repeat_interleave") else xp.repeat(a, k, axis=0)


def numpy_peer(problem, device):
    """NumPy with the gradient derived by hand. OpenBLAS computes matrix products on
    all cores. Elementwise operations run on one core, on blocks of rows in buffers
    that fit in its cache. Names and equations are as in DESIGN.md."""
    import numpy as np
    if device != "cpu":
        raise Missing("numpy has no GPU")
    from numpy.linalg import cholesky, inv
    p, k, x, y = problem.params, problem.k, problem.x, problem.y
    (n, inputs), d, m = x.shape, y.shape[1], len(p["phase.lower"])
    blocks = [slice(lo, min(n, lo + ROWS)) for lo in range(0, n, ROWS)]
    cos_all, sin_all = np.empty((n, m)), np.empty((n, m))  # times e = exp(−½ Σ P d²)
    buffers = np.empty((5, min(n, ROWS), m))

    def sinc(h):
        return np.sin(h) / h

    def slope(h):
        return (h * np.cos(h) - np.sin(h)) / (h * h)

    def features(z, decay, omega, center):
        """Computes cos_all and sin_all, and returns Σ_n e⁴ cos 2θ = Σ_n cos⁴ − sin⁴."""
        ripples = np.zeros(m)
        for rows in blocks:
            cos, sin = cos_all[rows], sin_all[rows]
            theta, quad, diff, term = buffers[:4, :len(cos)]
            np.copyto(theta, center)
            quad.fill(0)
            for q in range(inputs):
                np.subtract(x[rows, q, None], z[:, q], out=diff)
                theta += np.multiply(diff, omega[:, q], out=term)
                np.multiply(diff, diff, out=diff)
                diff *= -0.5 * decay[:, q]
                quad += diff
            e = np.exp(quad, out=quad)
            # NumPy's float64 tan is vectorized. sin and cos are not, and take nine times
            # as long: cos = (1−t²)/(1+t²), sin = 2t/(1+t²), t = tan θ/2.
            theta *= 0.5
            t = np.tan(theta, out=theta)
            t2 = np.multiply(t, t, out=diff)
            e /= np.add(t2, 1, out=term)
            np.multiply(np.subtract(1, t2, out=t2), e, out=cos)
            t *= 2
            np.multiply(t, e, out=sin)
            c2, s2 = np.multiply(cos, cos, out=diff), np.multiply(sin, sin, out=term)
            ripples += np.einsum("nm,nm->m", c2, c2) - np.einsum("nm,nm->m", s2, s2)
        return ripples

    def pullback(z, along, matrix, amp, weight):
        """Returns the sums over rows of θ̄, θ̄ d, q̄ d and q̄ d², and of the adjoint
        of φ̄ times cos. This adjoint is y·along + cos·matrix. weight is 4·ripple·∂/∂E[φ²]."""
        sums = {s: np.zeros((inputs, m)) for s in ("theta d", "quad d", "quad d2")} | {"theta": np.zeros(m), "amp": np.zeros(m)}
        for rows in blocks:
            cos, sin = cos_all[rows], sin_all[rows]
            bar, s2, squares, v, quad = buffers[:, :len(cos)]
            np.matmul(cos, matrix, out=bar)
            bar += np.matmul(y[rows], along, out=v)
            sums["amp"] += np.einsum("nm,nm->m", bar, cos)
            bar *= amp
            np.multiply(sin, sin, out=s2)
            np.multiply(cos, cos, out=squares)
            squares += s2
            squares *= weight
            np.multiply(squares, cos, out=v)
            v += bar  # θ̄ = −v·sin, q̄ = −½(v·cos − squares·sin²)
            theta = np.multiply(v, sin, out=bar)
            np.multiply(v, cos, out=quad)
            s2 *= squares
            quad -= s2
            # Powers of d = (x − o) + (o − z), where o is the mean of the block
            origin = x[rows].mean(0)
            near = x[rows] - origin
            powers = np.hstack([np.ones((len(cos), 1)), near, near * near]).T
            t, s = -(powers[:1 + inputs] @ theta), -0.5 * (powers @ quad)
            sums["theta"] += t[0]
            for q in range(inputs):
                far = origin[q] - z[:, q]
                sums["theta d"][q] += t[1 + q] + far * t[0]
                sums["quad d"][q] += s[1 + q] + far * s[0]
                sums["quad d2"][q] += s[1 + inputs + q] + far * (2 * s[1 + q] + far * s[0])
        return sums

    def evaluate():
        variance, l, frequency = (np.repeat(p[t], k, axis=0) for t in TENSORS[:3])
        z, mu, sigma = p["inducing.location"], p["frequency.mean"], p["frequency.variance"]
        low, high, tau = p["phase.lower"], p["phase.upper"], p["noise.precision"][0]
        decay, omega = sigma / l**2, mu / l + 2 * np.pi * frequency
        center, half = (low + high) / 2, (high - low) / 2
        share = variance / k
        amp, ripple = np.sqrt(2 * share) * sinc(half), share * sinc(2 * half)
        ripples = features(z, decay, omega, center)
        a = cos_all.T @ cos_all  # NumPy uses SYRK, which computes one half
        a *= amp
        a *= amp[:, None]
        a[np.diag_indices(m)] = n * share + ripple * ripples + 1 / tau
        c = amp[:, None] * (cos_all.T @ y)
        factor = cholesky(a)
        inverse = inv(factor)
        inverse = inverse.T @ inverse
        mean = inverse @ c
        residual = (y**2).sum() - (c * mean).sum()
        value = (-0.5 * n * d * np.log(2 * np.pi / tau) - 0.5 * tau * residual
                 - 0.5 * (d * m * np.log(tau) + 2 * d * np.log(np.diag(factor)).sum())
                 - 0.5 * (sigma + mu**2 - 1 - np.log(sigma)).sum() - np.log(2 * np.pi / (high - low)).sum())
        bar = -0.5 * d * inverse - 0.5 * tau * mean @ mean.T
        second = np.diag(bar).copy()
        bar[np.diag_indices(m)] = 0
        bar *= 2 * amp[:, None]
        sums = pullback(z, (tau * mean).T, bar, amp, 4 * ripple * second)
        theta_sum, amp_bar, ripple_bar = sums["theta"], sums["amp"], second * ripples
        omega_bar, quad_d, decay_bar = sums["theta d"].T, sums["quad d"].T, sums["quad d2"].T
        g = {}
        g["inducing.location"] = -omega * theta_sum[:, None] - 2 * decay * quad_d
        g["frequency.mean"] = omega_bar / l - mu
        g["frequency.variance"] = decay_bar / l**2 - 0.5 * (1 - 1 / sigma)
        component = (-1, k)

        def group(v):
            return v.reshape(*component, *v.shape[1:]).sum(1)
        g["kernel.lengthscale"] = group(-2 * decay_bar * sigma / l**3 - omega_bar * mu / l**2)
        g["kernel.frequency"] = group(2 * np.pi * omega_bar)
        g["kernel.variance"] = group(amp_bar * amp / (2 * variance) + (n * second + ripple_bar * sinc(2 * half)) / k)
        half_bar = amp_bar * np.sqrt(2 * share) * slope(half) + 2 * ripple_bar * share * slope(2 * half)
        width = high - low
        g["phase.lower"] = theta_sum / 2 - half_bar / 2 - 1 / width
        g["phase.upper"] = theta_sum / 2 + half_bar / 2 + 1 / width
        g["noise.precision"] = np.array([0.5 * (n * d - d * m) / tau - 0.5 * residual
                                         + (0.5 * d * np.trace(inverse) + 0.5 * tau * (mean**2).sum()) / tau**2])
        return value, g
    return np.__version__, evaluate, lambda: 0


def torch_peer(problem, device):
    import torch
    if device != "cpu" and not torch.cuda.is_available():
        raise Missing("torch sees no GPU")
    target = torch.device(device)

    def put(a):
        return torch.tensor(a, dtype=torch.float64, device=target)
    x, y = put(problem.x), put(problem.y)
    leaves = {t: put(v).requires_grad_() for t, v in problem.params.items()}

    def sinc(h):
        return torch.sin(h) / h

    def logdet_solve(a, c):
        factor = torch.linalg.cholesky(a)
        return 2 * torch.log(torch.diagonal(factor)).sum(), torch.cholesky_solve(c, factor)

    def evaluate():
        for v in leaves.values():
            v.grad = None
        value = bound(torch, sinc, logdet_solve, torch.diag, leaves, x, y, problem.k)
        value.backward()
        if device != "cpu":
            torch.cuda.synchronize()
        return value.item(), {t: v.grad.cpu().numpy() for t, v in leaves.items()}

    def peak():
        return torch.cuda.max_memory_allocated() if device != "cpu" else 0
    return torch.__version__, evaluate, peak


def jax_peer(problem, device):
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax.scipy.linalg import cho_solve
    try:
        target = jax.devices("cpu" if device == "cpu" else "gpu")[0]
    except RuntimeError as e:
        raise Missing(first_line(e)) from e

    def sinc(h):
        return jnp.sin(h) / h

    def logdet_solve(a, c):
        factor = jnp.linalg.cholesky(a)
        return 2 * jnp.log(jnp.diagonal(factor)).sum(), cho_solve((factor, True), c)

    def value(p, x, y):
        return bound(jnp, sinc, logdet_solve, jnp.diag, p, x, y, problem.k)
    both = jax.jit(jax.value_and_grad(value))
    p, x, y = jax.device_put((problem.params, problem.x, problem.y), target)

    def evaluate():
        v, g = jax.block_until_ready(both(p, x, y))
        return float(v), {t: jax.device_get(a) for t, a in g.items()}

    def peak():
        if device == "cpu":
            return 0
        return (target.memory_stats() or {}).get("peak_bytes_in_use", 0)
    return jax.__version__, evaluate, peak


PEERS = {"numpy": numpy_peer, "torch": torch_peer, "jax": jax_peer}


def time_bound(folder, peer, device, repeats):
    """Returns the line of one peer."""
    def measure(line):
        import numpy as np
        problem = Problem(folder)
        info = problem.info
        line |= {t: info[t] for t in ("n", "features", "inputs", "outputs")}
        line["version"], evaluate, device_peak = PEERS[peer](problem, device)
        value, gradient = first(evaluate, line)
        scale = max([1.0] + [abs(v) for v in info["terms"].values()])
        line["bound"] = value
        line["bound_difference"] = abs(value - problem.bound) / scale
        differences = {t: float(np.max(np.abs(gradient[t] - v)) / max(np.max(np.abs(v)), 1e-300)) for t, v in problem.gradient.items()}
        worst = max(differences, key=differences.get)
        line["gradient_difference"], line["gradient_worst"] = differences[worst], worst
        if not line["bound_difference"] <= BOUND_TOLERANCE or not line["gradient_difference"] <= GRADIENT_TOLERANCE:
            line["status"] = f"disagrees: bound by {line['bound_difference']:.2g}, gradient by {line['gradient_difference']:.2g} ({worst})"
            return
        timed(evaluate, repeats, line)
        line["peak_bytes"] = device_peak() or process_peak()
    return measured(measure, {"peer": peer, "device": device})


def rates(device, size, rows, features, repeats):
    """Yields lines with the rates of torch in float64, in int8 and for copies."""
    def one(case, n, m, flop, make, unit="tflops"):
        """Returns a line. make(torch) returns the function to time."""
        def measure(line):
            import torch
            if device != "cpu" and not torch.cuda.is_available():
                raise Missing("torch sees no GPU")
            line["version"] = torch.__version__
            call = make(torch)

            def finished():
                call()
                if device != "cpu":
                    torch.cuda.synchronize()
            first(finished, line)
            timed(finished, repeats, line)
            line[unit] = flop / line["seconds_per_evaluation"] / (1e12 if unit == "tflops" else 1e9)
        return measured(measure, {"peer": "torch", "mode": "rates", "device": device, "case": case, "n": n, "features": m})

    def normal(torch, n, m):
        return torch.randn(n, m, dtype=torch.float64, device=device)

    def product(torch, n, m):
        a, b = normal(torch, n, m), normal(torch, m, n)
        return lambda: a @ b

    def gram(torch):
        phi = normal(torch, rows, features)
        return lambda: phi.T @ phi

    def definite(torch, m):
        a = normal(torch, m, m)
        return a @ a.T + m * torch.eye(m, dtype=torch.float64, device=device)

    def factor(torch, m):
        a = definite(torch, m)
        return lambda: torch.linalg.cholesky_ex(a)

    def inverse(torch, m):
        r = torch.linalg.cholesky(definite(torch, m))
        return lambda: torch.cholesky_inverse(r)

    def int8(torch):  # product of a row-major and a column-major matrix, the layout that GPUs support
        a, b = (torch.randint(-64, 64, (size, size), dtype=torch.int8, device=device) for _ in range(2))
        return lambda: torch._int_mm(a, b.t())

    def copy(torch, pinned, up):
        host, card = torch.empty(size, size, dtype=torch.float64, pin_memory=pinned), normal(torch, size, size)
        host.fill_(1)
        return (lambda: card.copy_(host)) if up else (lambda: host.copy_(card))

    dgemm = one(f"DGEMM {size}", size, size, 2 * size**3, lambda t: product(t, size, size))
    yield dgemm
    if dgemm["status"].startswith("missing"):
        return  # the others would be missing, too
    yield one(f"ΦᵀΦ {rows}×{features}", rows, features, 2 * rows * features**2, gram)
    for m in dict.fromkeys([features, size]):
        yield one(f"potrf {m}", m, m, m**3 / 3, lambda t, m=m: factor(t, m))
        yield one(f"potri {m}", m, m, 2 * m**3 / 3, lambda t, m=m: inverse(t, m))
    yield one(f"int8 {size}", size, size, 2 * size**3, int8)
    for pinned in (False, True) if device != "cpu" else ():
        for up in (True, False):
            case = f"copy {'to the card' if up else 'back'}, {'pinned' if pinned else 'pageable'}"
            yield one(case, size, size, 8 * size**2, lambda t, pinned=pinned, up=up: copy(t, pinned, up), "gbytes_per_second")


def in_own_process(args, peer):
    """Runs a peer in a separate process, which isolates its memory and crashes, and returns its line."""
    command = [sys.executable, __file__, "bound", args.folder, "--peer", peer, "--device", args.device, "--repeats", str(args.repeats), "--here"]
    line = {"peer": peer, "device": args.device}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout, check=False)
    except subprocess.TimeoutExpired:
        return line | {"status": f"time limit: {args.timeout:g} s"}
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        # the kernel kills a process if memory is exhausted
        killed = done.returncode == -9
        message = (done.stderr.strip() or f"exit {done.returncode}").splitlines()[-1]
        return line | {"status": "out of memory: the process was killed" if killed else f"failed: {message[:200]}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    b = modes.add_parser("bound", help="time the bound and its gradient on a dumped problem")
    b.add_argument("folder")
    b.add_argument("--peer", default="numpy,torch,jax", help="peers, separated by commas")
    b.add_argument("--timeout", type=float, default=300, help="seconds for each peer")
    b.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    g = modes.add_parser("rates", help="measure the rates of torch's products, factorizations and copies")
    g.add_argument("--size", type=int, default=4096, help="size of square matrices")
    g.add_argument("--rows", type=int, default=1_000_000, help="N of ΦᵀΦ")
    g.add_argument("--features", type=int, default=1024, help="M of ΦᵀΦ and of the smaller factorization")
    for m in (b, g):
        m.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
        m.add_argument("--repeats", type=int, default=5)
        m.add_argument("--out", help="append the lines to this file")
    args = parser.parse_args()
    if args.mode == "rates":
        lines = rates(args.device, args.size, args.rows, args.features, args.repeats)
    else:
        peers = args.peer.split(",")
        unknown = [p for p in peers if p not in PEERS]
        if unknown:
            parser.error(f"--peer {','.join(unknown)}: must be some of {','.join(PEERS)}")
        if args.here:
            print(json.dumps(time_bound(args.folder, peers[0], args.device, args.repeats)))
            return 0
        lines = (in_own_process(args, p) for p in peers)
    wrong = False
    for line in lines:
        print(json.dumps(line), flush=True)
        if args.out:
            with open(args.out, "a", encoding="utf-8") as f:
                f.write(json.dumps(line) + "\n")
        wrong = wrong or line["status"].startswith(("disagrees", "failed"))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
