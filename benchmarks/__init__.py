"""Benchmarks: side-by-side ratios, run by ``regioncount bench`` from a checkout."""
