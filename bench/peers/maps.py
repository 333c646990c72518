"""Other methods for two inputs, such as maps, for peers/tables.py and `bench speed -inputs 2 -peers gp1000,efgp,ski,svgp`.

    bench speed -inputs 2 -n 100000 -features 512 -peers numpy,gp1000,efgp,ski,svgp    runs this
    maps.py FOLDER --peer efgp --repeats 3                                             times a problem of `bench speed -dump FOLDER`

gp1000 is scikit-learn's exact Gaussian process on SUBSET random rows, with the squared exponential or the Matérn-3/2 kernel,
whichever has the higher evidence, a length-scale for each input, and noise. efgp is the equispaced Fourier Gaussian process
(Greengard, Rachh and Barnett 2022), written from the paper with finufft: features at equispaced frequencies, whose Gram matrix is
Toeplitz, so that conjugate gradients need only FFTs. It computes no determinant and so no evidence. It uses the
hyper-parameters of gp1000. ski (structured kernel interpolation) and svgp (stochastic variational inference with inducing points) are GPyTorch's,
with a Matérn-3/2 kernel. nearest and linear are SciPy's interpolation.

These peers are other models than ours, so they are not compared with it; efgp is compared with the exact process on a small problem.
An evaluation is

    gp1000  the evidence of the SUBSET rows and its gradient
    efgp    transforms of the rows and conjugate gradients for the mean, with given hyper-parameters
    ski     GPyTorch's stochastic estimate of the evidence of all rows and its gradient
    svgp    the bound of all rows and its gradient, in mini-batches; M inducing points, M the number of our features
"""

import argparse
import json
import math
import os
import sys
import time
import warnings

import numpy as np

from peer import first, measured, process_peak, timed

SUBSET = 1000  # rows of gp1000
DRAWS = 32  # of efgp, for standard deviations
BATCH = 1024  # rows of a mini-batch of svgp
INDUCING = 512  # inducing points of svgp
EPOCHS, STEPS = 30, 60  # of svgp and ski
MATERN = 1.5


# Interpolation


def nearest(x, y, at, limit):
    from scipy.interpolate import NearestNDInterpolator

    return NearestNDInterpolator(x, y)(at), None


def linear(x, y, at, limit):
    from scipy.interpolate import LinearNDInterpolator

    mean, outside = LinearNDInterpolator(x, y)(at), nearest(x, y, at, limit)[0]
    return np.where(np.isnan(mean), outside, mean), None


# The exact Gaussian process on some rows


def fit_gp(x, y, kernels=("rbf", "matern")):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

    some = np.random.default_rng(0).permutation(len(x))[:SUBSET]
    best = None
    for name in kernels:
        lengths = np.ones(x.shape[1]) * 0.5
        shape = RBF(lengths, (1e-2, 1e3)) if name == "rbf" else Matern(lengths, (1e-2, 1e3), nu=MATERN)
        kernel = ConstantKernel(1, (1e-3, 1e3)) * shape + WhiteKernel(0.1, (1e-6, 10))
        one = GaussianProcessRegressor(kernel, random_state=0).fit(x[some], y[some])
        if best is None or one.log_marginal_likelihood_value_ > best.log_marginal_likelihood_value_:
            best = one
    return best


def gp(x, y, at, limit):
    model = fit_gp(x, y)
    mean, sd = (np.concatenate(part) for part in zip(*(model.predict(some, return_std=True) for some in chunks(at))))
    return mean, sd, f"{len(model.X_train_)} rows, {model.kernel_}"


def chunks(a, size=4000):
    return (a[i : i + size] for i in range(0, len(a), size))


# The equispaced Fourier Gaussian process


class Efgp:
    """The Gaussian process k(x − x') ≈ Σ_j d_j² exp(2πi h·j (x − x')), j from −m to m along each input, with noise.

    With features Φ_nj = exp(2πi h·j x_n) and D = diag(d), the weights' posterior mean β solves A β = DΦ*y, where
    A = DΦ*ΦD + σ²I. Φ*Φ is Toeplitz: its products with vectors are convolutions. All functions are real, so β_−j is conj(β_j), and
    arrays contain only j_1 ≥ 0.
    """

    def __init__(self, x, at, lengths, variance, noise, matern, most=256):
        error = 1e-4 if matern else 1e-6  # of the kernel
        both = np.concatenate([x, at])
        self.center, self.lengths, self.noise = (both.max(0) + both.min(0)) / 2, lengths, noise
        reach = (both.max(0) - both.min(0)) / lengths
        # The kernel's images are 1/h apart: beyond the reach of the rows it must be below the error, and so must the spectrum beyond m.
        if matern:
            far = next(r for r in np.arange(0.5, 100, 0.1) if (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r) < error)
            top = math.sqrt((error ** (-1 / MATERN) - 1) * 2 * MATERN) / (2 * math.pi)
        else:
            far, top = math.sqrt(2 * math.log(1 / error)), math.sqrt(math.log(1 / error) / 2) / math.pi
        self.h = 1 / (reach + far)
        self.m = np.minimum(np.ceil(top / self.h), most).astype(int)
        self.cut = bool((self.m == most).any())
        f0, f1 = (np.arange(-self.m[0], self.m[0] + 1) * self.h[0])[:, None], (np.arange(self.m[1] + 1) * self.h[1])[None]
        square = f0**2 + f1**2
        if matern:  # the spectral density of the Matérn kernel in two dimensions
            power = 2 * math.pi * (2 * MATERN) ** MATERN * 2 * MATERN * (2 * MATERN + 4 * math.pi**2 * square) ** (-MATERN - 1)
        else:
            power = 2 * math.pi * np.exp(-2 * math.pi**2 * square)
        self.d = np.sqrt(variance * power * self.h[0] * self.h[1])
        self.weight = np.full(self.d.shape, 2.0)  # entries of the whole array for each of the half
        self.weight[:, 0] = 1
        self.x = self.points(x)

    def points(self, x):
        return [np.ascontiguousarray(p) for p in (2 * math.pi * self.h * (x - self.center) / self.lengths).T]

    def sums(self, values, twice=1):
        """Returns Φ*v for frequencies up to twice·m."""
        import finufft

        m = twice * self.m
        return finufft.nufft2d1(*self.x, values.astype(complex), (2 * m[0] + 1, 2 * m[1] + 1), isign=-1, eps=1e-9)[:, m[1] :]

    def values(self, weights, points):
        """Returns ΦDβ."""
        import finufft

        half = self.d * weights
        whole = np.concatenate([half[::-1, :0:-1].conj(), half], 1)
        return finufft.nufft2d2(*points, np.ascontiguousarray(whole), isign=1, eps=1e-9).real

    def prepare(self):
        """Computes the spectrum of the Toeplitz matrix."""
        from scipy.fft import irfft2, next_fast_len

        self.size = [next_fast_len(int(4 * m + 1)) for m in self.m]
        self.size[1] += self.size[1] % 2
        table = self.spread(self.sums(np.ones(len(self.x[0])), 2))
        self.spectrum = irfft2(table, self.size, workers=-1) * (self.size[0] * self.size[1])
        self.diagonal = self.noise + self.d**2 * len(self.x[0])
        self.iterations = 0

    def spread(self, half):
        """Returns the padded half of the transform of a real function."""
        out, m = np.zeros((self.size[0], self.size[1] // 2 + 1), complex), half.shape[0] // 2
        out[: m + 1, : half.shape[1]], out[-m:, : half.shape[1]] = half[m:], half[:m]
        return out

    def apply(self, weights):
        from scipy.fft import irfft2, rfft2

        got = rfft2(irfft2(self.spread(self.d * weights), self.size, workers=-1) * self.spectrum, workers=-1)
        m, columns = self.m[0], self.m[1] + 1
        return self.noise * weights + self.d * np.concatenate([got[-m:, :columns], got[: m + 1, :columns]])

    def dot(self, a, b):
        return float(np.sum(self.weight * (a.real * b.real + a.imag * b.imag)))

    def solve(self, right, tolerance, most=2000):
        """Solves A β = right by conjugate gradients with the diagonal as preconditioner."""
        beta, r = np.zeros_like(right), right.copy()
        z = r / self.diagonal
        p, size = z, self.dot(r, z)
        target = tolerance**2 * size
        for _ in range(most):
            if size <= target:
                break
            image = self.apply(p)
            step = size / self.dot(p, image)
            beta += step * p
            r -= step * image
            z = r / self.diagonal
            before, size = size, self.dot(r, z)
            p = z + size / before * p
            self.iterations += 1
        return beta

    def mean(self, y, tolerance=1e-5):
        self.prepare()
        self.beta = self.solve(self.d * self.sums(y), tolerance)

    def draw(self, rng):
        """Returns a draw of the posterior's weights minus their mean: a prior draw, corrected by the observations of its function."""
        shape = self.d.shape
        prior = (rng.normal(size=shape) + 1j * rng.normal(size=shape)) / math.sqrt(2)
        m = self.m[0]
        prior[:m, 0], prior[m, 0] = prior[:m:-1, 0].conj(), rng.normal()
        observed = self.values(prior, self.x) + math.sqrt(self.noise) * rng.normal(size=len(self.x[0]))
        return prior - self.solve(self.d * self.sums(observed), 1e-3)


def check_efgp():
    """Compares means and standard deviations with the exact Gaussian process on a small problem."""
    from sklearn.gaussian_process.kernels import RBF, Matern

    rng, lengths, variance, noise = np.random.default_rng(0), np.array([0.3, 0.5]), 1.3, 0.02
    x, at, y = rng.uniform(-1.7, 1.7, (300, 2)), rng.uniform(-1.7, 1.7, (50, 2)), rng.normal(size=300)
    for matern, kernel in ((False, RBF(lengths)), (True, Matern(lengths, nu=MATERN))):
        solved = np.linalg.solve(variance * kernel(x) + noise * np.eye(len(x)), np.column_stack([y, variance * kernel(x, at)]))
        mean, exact = variance * kernel(at, x) @ solved[:, 0], variance - np.sum(variance * kernel(at, x) * solved[:, 1:].T, 1)
        process = Efgp(x, at, lengths, variance, noise, matern)
        process.mean(y)
        points = process.points(at)
        error = np.max(np.abs(process.values(process.beta, points) - mean)) / np.max(np.abs(mean))
        draws = [process.values(process.draw(rng), points) for _ in range(8 if matern else 32)]
        ratio = np.mean(np.square(draws)) / np.mean(exact)
        if not (error < 1e-2 and 0.7 < ratio < 1.4):
            raise ValueError(f"efgp differs from the exact process: means by {error:.2g}, variances by a factor of {ratio:.3g}")


def efgp(x, y, at, limit):
    began = time.perf_counter()
    model = fit_gp(x, y)
    latent, noise = model.kernel_.k1, model.kernel_.k2.noise_level
    process = Efgp(x, at, latent.k2.length_scale, latent.k1.constant_value, noise, hasattr(latent.k2, "nu"))
    process.mean(y)
    points, rng, draws = process.points(at), np.random.default_rng(0), []
    first_iterations = process.iterations
    while len(draws) < DRAWS and (len(draws) < 4 or time.perf_counter() - began < limit):
        draws.append(process.values(process.draw(rng), points))
    sd = np.sqrt(np.mean(np.square(draws), 0) + noise)
    nodes = " × ".join(str(2 * m + 1) for m in process.m)
    found = (f"hyper-parameters by the evidence of {len(model.X_train_)} rows: {model.kernel_}; {nodes} nodes"
             f"{', fewer than its error needs' if process.cut else ''}, {first_iterations} iterations, sd of {len(draws)} draws")
    return process.values(process.beta, points), sd, found


# GPyTorch


def tensors(*arrays):
    import torch

    torch.manual_seed(0)
    return [torch.as_tensor(a, dtype=torch.float64) for a in arrays]


def make_ski(x, y):
    """Returns the model, its likelihood, and a function that computes the loss and its gradient."""
    import gpytorch
    from gpytorch.kernels import GridInterpolationKernel, MaternKernel, ScaleKernel

    class Ski(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            side = int(min(256, math.sqrt(len(x))))
            self.mean_module = gpytorch.means.ConstantMean()
            kernel = MaternKernel(nu=MATERN)  # GPyTorch's grids use one length-scale for all inputs
            kernel.lengthscale = 0.3
            self.covar_module = ScaleKernel(GridInterpolationKernel(kernel, grid_size=[side, side], num_dims=2))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = 0.1
    model = Ski(x, y, likelihood).double()
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def evaluate():
        model.zero_grad()
        with gpytorch.settings.max_preconditioner_size(0):  # the preconditioner takes twice the time, and 300 kB per row
            (-evidence(model(x), y)).backward()
    model.train()
    likelihood.train()
    return model, likelihood, evaluate


def ski(x, y, at, limit):
    import gpytorch
    import torch

    x, y, at = tensors(x, y, at)
    model, likelihood, evaluate = make_ski(x, y)
    optimizer, began, steps = torch.optim.Adam(model.parameters(), lr=0.1), time.perf_counter(), 0
    while steps < STEPS and time.perf_counter() - began < limit:
        evaluate()
        optimizer.step()
        steps += 1
    model.eval()
    likelihood.eval()
    mean, variance = [], []
    settings = gpytorch.settings
    with torch.no_grad(), settings.fast_pred_var(), settings.max_root_decomposition_size(200), settings.max_preconditioner_size(0):
        for some in chunks(at):
            p = likelihood(model(some))
            mean.append(p.mean)
            variance.append(p.variance)
    grid = " × ".join(str(len(g)) for g in model.covar_module.base_kernel.grid)
    return torch.cat(mean).numpy(), torch.cat(variance).sqrt().numpy(), f"grid {grid}, {steps} steps of Adam"


def make_svgp(x, inducing):
    import gpytorch
    import torch
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy

    class Svgp(gpytorch.models.ApproximateGP):
        def __init__(self, at):
            super().__init__(VariationalStrategy(self, at, CholeskyVariationalDistribution(len(at)), learn_inducing_locations=True))
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = ScaleKernel(MaternKernel(nu=MATERN, ard_num_dims=2))
            self.covar_module.base_kernel.lengthscale = 0.3

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    model = Svgp(x[torch.randperm(len(x))[:inducing]].clone()).double()
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = 0.1
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, len(x))
    model.train()
    likelihood.train()
    return model, likelihood, bound


def svgp(x, y, at, limit):
    import torch

    x, y, at = tensors(x, y, at)
    model, likelihood, bound = make_svgp(x, min(INDUCING, len(x)))
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.01)
    began, steps, most = time.perf_counter(), 0, EPOCHS * -(-len(x) // BATCH)
    while steps < most and time.perf_counter() - began < limit:
        for rows in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            (-bound(model(x[rows]), y[rows])).backward()
            optimizer.step()
            steps += 1
    model.eval()
    likelihood.eval()
    with torch.no_grad():
        p = [likelihood(model(some)) for some in chunks(at)]
        mean, sd = torch.cat([q.mean for q in p]), torch.cat([q.variance for q in p]).sqrt()
    return mean.numpy(), sd.numpy(), f"{min(INDUCING, len(x))} inducing points, {steps} of {most} steps of Adam"


METHODS = {"nearest": nearest, "linear": linear, "gp1000": gp, "efgp": efgp, "ski": ski, "svgp": svgp}


# Times of an evaluation


def time_gp(x, y, features):
    import sklearn

    model = fit_gp(x, y, ["matern"])
    return sklearn.__version__, f"evidence and gradient of {len(model.X_train_)} rows", lambda: model.log_marginal_likelihood(
        model.kernel_.theta, eval_gradient=True)


def time_efgp(x, y, features):
    import finufft

    check_efgp()
    # The standard deviation of the kernel's frequencies is 16 cycles over the range; the problem has frequencies up to 40.
    process = Efgp(x, x, (x.max(0) - x.min(0)) / 100, 1.0, 0.01, matern=False)
    nodes = "×".join(str(2 * m + 1) for m in process.m)
    return finufft.__version__, f"mean, {nodes} nodes", lambda: process.mean(y)


def time_ski(x, y, features):
    import gpytorch

    model, _, evaluate = make_ski(*tensors(x, y))
    grid = "×".join(str(len(g)) for g in model.covar_module.base_kernel.grid)
    return gpytorch.__version__, f"evidence and gradient, grid {grid}", evaluate


def time_svgp(x, y, features):
    import gpytorch

    x, y = tensors(x, y)
    model, _, bound = make_svgp(x, min(features, len(x)))

    def evaluate():
        model.zero_grad()
        for part, of in zip(x.split(BATCH), y.split(BATCH)):
            (-bound(model(part), of) * len(part) / len(x)).backward()
    return gpytorch.__version__, f"bound and gradient, {min(features, len(x))} inducing points", evaluate


PEERS = {"gp1000": time_gp, "efgp": time_efgp, "ski": time_ski, "svgp": time_svgp}


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("folder")
    flags.add_argument("--peer", choices=PEERS, required=True)
    flags.add_argument("--repeats", type=int, default=5)
    o = flags.parse_args()
    warnings.filterwarnings("ignore")  # about length-scales at their limits, and torch's own calls

    def measure(line):
        with open(os.path.join(o.folder, "problem.json"), encoding="utf-8") as f:
            features = json.load(f)["features"]
        x, y = (np.load(os.path.join(o.folder, name + ".npy")) for name in ("x", "y"))
        x, y = (x - x.mean(0)) / x.std(0), (y[:, 0] - y[:, 0].mean()) / y[:, 0].std()
        line["version"], line["mode"], evaluate = PEERS[o.peer](x, y, features)
        first(evaluate, line)
        timed(evaluate, o.repeats, line)
        line["peak_bytes"] = process_peak()
    print(json.dumps(measured(measure, {"peer": o.peer, "device": "cpu"})))


if __name__ == "__main__":
    sys.exit(main())
