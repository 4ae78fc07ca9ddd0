"""Benchmarks: figures to quote, never tests."""
