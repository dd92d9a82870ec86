"""Train the ReLU network in trained_relu.json: 2-16-16-1, fitted to sin(2x) cos(2y) + x y / 2 on [-1, 1]^2.

    python examples/train_relu.py [-o FILE]

Least squares on a 41 x 41 grid with a small weight penalty, by L-BFGS with the gradient written out, in about
ten seconds. The seed fixes the start; other machines may round differently and find another network.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from regioncount import Affine, Network, ReLU, save

WIDTHS = (2, 16, 16, 1)
SEED = 0
PENALTY = 1e-6
TARGET = "sin(2x) cos(2y) + x y / 2"


def target(points):
    x, y = points.T
    return np.sin(2 * x) * np.cos(2 * y) + x * y / 2


def unpack(flat):
    """Cut the flat vector into pairs (W, b)."""
    layers, at = [], 0
    for columns, rows in zip(WIDTHS, WIDTHS[1:], strict=False):
        weight = flat[at : at + rows * columns].reshape(rows, columns)
        at += rows * columns
        layers.append((weight, flat[at : at + rows]))
        at += rows
    return layers


def loss_and_gradient(flat, points, values):
    layers = unpack(flat)
    states = [points]
    for weight, bias in layers[:-1]:
        states.append(np.maximum(states[-1] @ weight.T + bias, 0.0))
    weight, bias = layers[-1]
    residual = (states[-1] @ weight.T + bias)[:, 0] - values
    loss = np.mean(residual**2) + PENALTY * flat @ flat

    delta = (2.0 / len(values)) * residual[:, None]
    gradients = []
    for (weight, _), state in zip(reversed(layers), reversed(states), strict=True):
        gradients.append(np.concatenate([(delta.T @ state).ravel(), delta.sum(axis=0)]))
        delta = (delta @ weight) * (state > 0)
    return loss, np.concatenate(gradients[::-1]) + 2 * PENALTY * flat


def start(rng):
    parts = []
    for columns, rows in zip(WIDTHS, WIDTHS[1:], strict=False):
        parts += [rng.normal(0.0, (2 / columns) ** 0.5, rows * columns), rng.uniform(-0.5, 0.5, rows)]
    return np.concatenate(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default=Path(__file__).with_name("trained_relu.json"))
    output = parser.parse_args().output

    axis = np.linspace(-1.0, 1.0, 41)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    values = target(points)
    result = minimize(
        loss_and_gradient,
        start(np.random.default_rng(SEED)),
        args=(points, values),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 2000, "maxfun": 4000},
    )
    rounded = np.round(result.x, 6)
    layers = []
    for weight, bias in unpack(rounded):
        layers += [Affine(weight, bias), ReLU()]
    error = np.sqrt(np.mean((forward(rounded, points) - values) ** 2))
    metadata = {
        "family": "trained-relu",
        "parameters": {"widths": list(WIDTHS), "target": TARGET, "optimizer": "L-BFGS", "penalty": PENALTY},
        "seed": SEED,
        "description": "ReLU network trained by examples/train_relu.py; weights rounded to six decimals.",
        "rms_error": round(float(error), 6),
    }
    save(Network(2, tuple(layers[:-1]), "-1:1,-1:1", metadata), output)
    print(f"{output}: {result.nit} iterations, root mean square error {error:.4f}")


def forward(flat, points):
    state = points
    layers = unpack(flat)
    for weight, bias in layers[:-1]:
        state = np.maximum(state @ weight.T + bias, 0.0)
    return (state @ layers[-1][0].T + layers[-1][1])[:, 0]


if __name__ == "__main__":
    main()
