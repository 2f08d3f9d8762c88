"""Proximal policy optimization for a vector of `stiction.envs`: a Gaussian policy and a value, each a small network, with gradients by autograd.

What happens where: `Rollouts` steps environments with a policy (here, or in Ray's workers), `Learner` has the networks and improves them from what
the rollouts saw. All random numbers come from the learner's seed, and every copy of the environment has its own, so a run does not depend on how
many workers there are, but for rounding.

Reference: Schulman, Wolski, Dhariwal, Radford, Klimov: Proximal policy optimization algorithms, 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import autograd.numpy as anp
import numpy as np
import numpy.typing as npt
from autograd import value_and_grad
from autograd.misc.flatten import flatten

from stiction.envs import TaskVectorEnv

Array = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]
#: A network: weights and biases of each layer.
Network = list[tuple[Array, Array]]


@dataclass(frozen=True)
class Settings:
    """What can be tuned; the defaults are those of the documentation."""

    #: Steps of every copy between two improvements.
    horizon: int = 32
    #: How often each sample is used.
    epochs: int = 5
    #: Parts that the samples are split into in each epoch.
    minibatches: int = 4
    rate: float = 1e-3
    discount: float = 0.97
    #: λ of the generalized advantage estimate.
    trace: float = 0.95
    #: Most that the probability of an action counts as changed, relative to 1.
    clip: float = 0.2
    #: An improvement ends when the policy has changed by this much (Kullback–Leibler divergence).
    most_change: float = 0.03
    #: Longest gradient; others are scaled to it.
    most_gradient: float = 1.0
    #: Standard deviation of actions at the start.
    exploration: float = 0.3
    #: Units of both hidden layers.
    hidden: int = 64


def network(rng: np.random.Generator, sizes: list[int], last: float) -> Network:
    """Orthogonal weights, those of the last layer scaled by `last`."""
    layers = []
    for k, (rows, cols) in enumerate(zip(sizes, sizes[1:])):
        q, r = np.linalg.qr(rng.standard_normal((max(rows, cols), min(rows, cols))))
        weights = (q * np.sign(np.diag(r)))[:, :cols] if rows >= cols else (q * np.sign(np.diag(r))).T
        gain = last if k == len(sizes) - 2 else np.sqrt(2.0)
        layers.append((gain * weights, np.zeros(cols)))
    return layers


def evaluate(layers: Network, x: Any) -> Any:
    """Of a network with tanh between its layers."""
    for weights, biases in layers[:-1]:
        x = anp.tanh(anp.dot(x, weights) + biases)
    weights, biases = layers[-1]
    return anp.dot(x, weights) + biases


class Scaling:
    """Observations less their mean, divided by their standard deviation, of all that were seen so far."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.squares = 1e-4, np.zeros(size), np.full(size, 1e-4)

    def see(self, samples: Array) -> None:
        """Counts samples in, (n, size)."""
        n, mean = len(samples), samples.mean(axis=0)
        change, total = mean - self.mean, self.count + n
        self.squares = self.squares + ((samples - mean) ** 2).sum(axis=0) + change**2 * self.count * n / total
        self.mean, self.count = self.mean + change * n / total, total

    def __call__(self, x: Array) -> Array:
        scaled: Array = np.clip((x - self.mean) / np.sqrt(self.squares / self.count + 1e-8), -10.0, 10.0)
        return scaled


@dataclass
class Policy:
    """What acts: the mean of the actions as a network of the scaled observations, and the logarithm of their standard deviation."""

    scaling: Scaling
    actor: Network
    log_std: Array

    def act(self, observations: Array, noise: Array | float = 0.0) -> Array:
        """Actions, for noise of the standard normal distribution."""
        actions: Array = evaluate(self.actor, self.scaling(observations)) + np.exp(self.log_std) * noise
        return actions


@dataclass
class Samples:
    """What rollouts saw: arrays of (steps, copies, ...)."""

    observations: Array
    actions: Array
    rewards: Array
    #: What followed each action, as seen before the copy began anew.
    following: Array
    terminated: Marks
    truncated: Marks
    #: Steps whose action counted; the others only began an episode.
    valid: Marks
    #: How far the copy came in the step, as `info[progress]` says.
    progress: Array

    @staticmethod
    def join(parts: list[Samples]) -> Samples:
        """The samples of several rollouts, side by side."""
        return Samples(*(np.concatenate([getattr(p, name) for p in parts], axis=1) for name in Samples.__dataclass_fields__))


class Rollouts:
    """Environments that go on where the last samples ended. Copy i of all is seeded with `seed` + i, wherever it lives.

    Parameters
    ----------
    make : callable
        Makes the environments, given how many and for how many threads.
    copies : range
        Which of all copies these are.
    seed : int
    progress : str
        What of `info` is the way made.
    threads : int, optional
    """

    def __init__(self, make: Callable[[int, int | None], TaskVectorEnv], copies: range, seed: int, progress: str, threads: int | None = None) -> None:
        self.env, self.progress = make(len(copies), threads), progress
        self.seen, info = self.env.reset(seed=seed + copies.start)
        self.place = info[progress]
        self.over = np.zeros(len(copies), np.bool_)

    def collect(self, policy: Policy, noise: Array) -> Samples:
        """One step per row of noise, (steps, copies, actions)."""
        rows = []
        for row in noise:
            before, place, valid = self.seen, self.place, ~self.over
            actions = policy.act(before, row)
            self.seen, rewards, terminated, truncated, info = self.env.step(actions.astype(np.float32))
            self.place, self.over = info[self.progress], terminated | truncated
            rows.append((before, actions, rewards, self.seen, terminated, truncated, valid, np.where(valid, self.place - place, 0.0)))
        return Samples(*(np.stack(column) for column in zip(*rows)))


def advantages(samples: Samples, now: Array, later: Array, settings: Settings) -> Array:
    """Generalized advantage estimates, given the values before and after every action.

    An episode that was cut off goes on with the value of what followed; one that ended is worth nothing more."""
    gain = np.zeros(samples.rewards.shape[1])
    found = np.zeros_like(samples.rewards)
    for t in reversed(range(len(found))):
        surprise = samples.rewards[t] + settings.discount * np.where(samples.terminated[t], 0.0, later[t]) - now[t]
        goes_on = ~(samples.terminated[t] | samples.truncated[t])
        gain = np.where(samples.valid[t], surprise + settings.discount * settings.trace * goes_on * gain, 0.0)
        found[t] = gain
    return found


def log_density(actions: Any, mean: Any, log_std: Any) -> Any:
    """Of the normal distribution of actions, without its constant."""
    return -anp.sum(0.5 * ((actions - mean) / anp.exp(log_std)) ** 2 + log_std, axis=-1)


class Learner:
    """Networks, and how they are improved.

    Parameters
    ----------
    observation_size, action_size : int
    seed : int
        Of networks, exploration and the order of samples.
    settings : Settings
    """

    def __init__(self, observation_size: int, action_size: int, seed: int, settings: Settings = Settings()) -> None:
        self.settings = settings
        self.rng = np.random.default_rng(seed)
        self.scaling = Scaling(observation_size)
        hidden = [settings.hidden, settings.hidden]
        actor = network(self.rng, [observation_size, *hidden, action_size], 0.01)
        critic = network(self.rng, [observation_size, *hidden, 1], 1.0)
        self.action_size = action_size
        self.parameters, self._apart = flatten((actor, critic, np.full(action_size, np.log(settings.exploration))))
        self._moments = np.zeros((2, self.parameters.size))
        self._updates = 0
        self._loss = value_and_grad(self._objective)

    @property
    def policy(self) -> Policy:
        """What acts now."""
        actor, _, log_std = self._apart(self.parameters)
        return Policy(self.scaling, actor, log_std)

    def noise(self, copies: int) -> Array:
        """Exploration for the next rollouts of all copies."""
        return self.rng.standard_normal((self.settings.horizon, copies, self.action_size))

    def improve(self, samples: Samples) -> dict[str, float]:
        """Takes samples in, and says what came of it: losses, change of the policy."""
        s, valid = self.settings, samples.valid
        if self.scaling.count < 1.0:
            self.scaling.see(samples.observations[valid])
        actor, critic, log_std = self._apart(self.parameters)
        seen, following = self.scaling(samples.observations), self.scaling(samples.following)
        now, later = evaluate(critic, seen)[..., 0], evaluate(critic, following)[..., 0]
        gains = advantages(samples, now, later, s)[valid]
        before = log_density(samples.actions, evaluate(actor, seen), log_std)[valid]
        data = (seen[valid], samples.actions[valid], before, (gains - gains.mean()) / (gains.std() + 1e-8), gains + now[valid])
        losses, change = [], 0.0
        for _ in range(s.epochs):
            for part in np.array_split(self.rng.permutation(len(gains)), s.minibatches):
                loss, gradient = self._loss(self.parameters, *(x[part] for x in data))
                self._descend(gradient)
                losses.append(loss)
            actor, _, log_std = self._apart(self.parameters)
            ratio = log_density(data[1], evaluate(actor, data[0]), log_std) - before
            change = float(np.mean(np.exp(ratio) - 1.0 - ratio))
            if change > s.most_change:
                break
        self.scaling.see(samples.observations[valid])
        return {"loss": float(np.mean(losses)), "change": change, "spread": float(np.exp(log_std).mean())}

    def _objective(self, parameters: Any, seen: Array, actions: Array, before: Array, gains: Array, returns: Array) -> Any:
        """The clipped surrogate of the policy, and the squared error of the values."""
        actor, critic, log_std = self._apart(parameters)
        ratio = anp.exp(log_density(actions, evaluate(actor, seen), log_std) - before)
        clipped = anp.clip(ratio, 1.0 - self.settings.clip, 1.0 + self.settings.clip)
        surrogate = anp.mean(anp.minimum(ratio * gains, clipped * gains))
        return 0.5 * anp.mean((evaluate(critic, seen)[:, 0] - returns) ** 2) - surrogate

    def _descend(self, gradient: Array) -> None:
        """A step of Adam."""
        gradient = gradient * min(1.0, self.settings.most_gradient / (float(np.linalg.norm(gradient)) + 1e-12))
        self._updates += 1
        first, second = self._moments
        first += 0.1 * (gradient - first)
        second += 0.001 * (gradient**2 - second)
        mean, square = first / (1.0 - 0.9**self._updates), second / (1.0 - 0.999**self._updates)
        self.parameters = self.parameters - self.settings.rate * mean / (np.sqrt(square) + 1e-8)
