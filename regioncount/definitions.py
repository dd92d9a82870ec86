"""The countable definitions of "region", in the words that every printed or plotted count uses.

After Stargalla, Hertrich and Reichman, *The Computational Complexity of Counting Linear Regions in ReLU Neural
Networks* (arXiv 2505.16716); ``cells`` is added for networks with attention, where one activation pattern may have
several pieces.  The five of ``DEFINITIONS`` group the pieces of a subdivision; R1 also counts what has no area.
"""

from __future__ import annotations

DEFINITIONS = ("activation", "cells", "linear", "linear_closed", "affine_maps")
COUNTABLE = (*DEFINITIONS, "R1")

MEANINGS = {
    "activation": "R2: activation patterns that occur on a set of full dimension",
    "cells": "connected pieces with one activation pattern, joined through facets",
    "linear": "R4: maximal open connected sets with one affine map",
    "linear_closed": "R5: connected unions of closed pieces with one affine map; touching at a point joins",
    "affine_maps": "R6: distinct affine maps",
    "R1": "R1: activation patterns on the closed domain, those on points and segments included",
}
