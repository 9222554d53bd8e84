#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The statistics of src/base/stats against scipy's, on random values with and without ties (tests/stats/calculate.c).
import os
import random
import subprocess
import sys
from functools import lru_cache
from itertools import combinations
from math import comb, isnan, nan

try:
    import numpy
    from scipy import stats
except ImportError:
    print('1..0 # SKIP no scipy here: Debian has it in python3-scipy')
    sys.exit(0)

build = os.environ.get('BUILD', os.path.dirname(__file__) + '/../../build')
rng = random.Random(17)
failed = 0
nr = 0


def check(name, wrong):
    global failed, nr
    nr += 1
    failed += bool(wrong)
    print(f"{'not ' if wrong else ''}ok {nr} - {name}")
    for text in wrong[:5]:
        print('# ' + text, file=sys.stderr)


def calculate(lines):
    out = subprocess.run([f'{build}/tests/stats/calculate'], input='\n'.join(lines) + '\n', capture_output=True, text=True,
                         check=True).stdout.splitlines()
    return [[float(v) for v in line.split()] for line in out]


def text(values):
    return ' '.join(repr(v) for v in values)


def differs(got, want, part=1e-9):
    return isnan(got) != isnan(want) or (not isnan(want) and abs(got - want) > part * max(1, abs(want)))


# ---- p, shift, median -----------------------------------------------------------------------------------------
def sample(size, ties):
    return [float(rng.randint(0, 6)) if ties else rng.gauss(0, 1) for _ in range(size)]


# Over all groups that these values make: what scipy's exact method has where there are no ties.
def p_by_groups(a, b):
    ranks = stats.rankdata(a + b)
    seen = sum(ranks[:len(a)])
    sums = [sum(c) for c in combinations(ranks, len(a))]
    low = sum(s <= seen + 1e-9 for s in sums)
    high = sum(s >= seen - 1e-9 for s in sums)
    return min(1, 2 * min(low, high) / len(sums))


def has_ties(a, b):
    return len(set(a + b)) < len(a + b)


def p_of(a, b):
    n = len(a) + len(b)
    if n > 50:
        return 1.0 if len(set(a + b)) == 1 else stats.mannwhitneyu(a, b, method='asymptotic').pvalue
    if not has_ties(a, b):
        return stats.mannwhitneyu(a, b, method='exact').pvalue
    return p_by_groups(a, b)


# How many differences are left out at each end: by the null distribution that scipy has for U.
@lru_cache(maxsize=None)
def outside(m, n):
    if m + n > 50:
        return max(0, int(m * n / 2 - stats.norm.ppf(0.975) * (m * n * (m + n + 1) / 12) ** 0.5))
    from scipy.stats._mannwhitneyu import _mwu_state
    return int(numpy.argmax(_mwu_state.cdf(numpy.arange(m * n // 2 + 1), m, n) > 0.025))


def shift_of(a, b):
    d = sorted(y - x for x in a for y in b)
    k = outside(len(a), len(b))
    return [numpy.median(d)] + ([d[k - 1], d[-k]] if k else [nan, nan])


# How many values are left out at each end of a median's interval.
@lru_cache(maxsize=None)
def outside_median(n):
    k = 0
    while stats.binom.cdf(k, n, 0.5) <= 0.025:
        k += 1
    return k


def median_of(a):
    v = sorted(a)
    k = outside_median(len(v))
    return [numpy.median(v)] + ([v[k - 1], v[-k]] if k else [nan, nan])


def check_two(name, pairs):
    wrong = []
    for (a, b), got in zip(pairs, calculate([f'two {text(a)} / {text(b)}' for a, b in pairs])):
        want = [p_of(a, b)] + shift_of(a, b) + median_of(a)
        names = ['p', 'shift', 'low', 'high', 'median', 'median low', 'median high']
        wrong += [f'{what}: {g}, not {w}: {a} / {b}' for what, g, w in zip(names, got, want) if differs(g, w)]
    check(f'{name}: p, shift, median and their intervals, {len(pairs)} pairs', wrong)


def sizes(low, high, count):
    return [(rng.randint(low, high), rng.randint(low, high)) for _ in range(count)]


check_two('no ties', [(sample(m, False), sample(n, False)) for m, n in sizes(1, 25, 300)])
check_two('ties, every group of them', [(sample(m, True), sample(n, True)) for m, n in sizes(1, 6, 300)])
check_two('equal values alone', [([3.0] * m, [3.0] * n) for m, n in sizes(1, 8, 20)])
check_two('many values', [(sample(m, i % 2), sample(n, i % 2)) for i, (m, n) in enumerate(sizes(26, 120, 100))])
check_two('one against many', [(sample(1, False), sample(n, False)) for n in range(1, 49)])

# ---- false alarms ---------------------------------------------------------------------------------------------
# How often p is at most 0.05 for 4 values against 16 of the same level that vary less: docs/diff.md says it.
def false_alarms(spread, count=4000):
    lines = [f'two {text([rng.gauss(0, spread) for _ in range(4)])} / {text([rng.gauss(0, 1) for _ in range(16)])}' for _ in range(count)]
    return sum(got[0] <= 0.05 for got in calculate(lines)) / count


for spread, low, high in ((1, 0.03, 0.07), (2, 0.09, 0.13), (5, 0.12, 0.16)):
    share = false_alarms(spread)
    check(f'4 values that vary {spread} times as much as 16: {share:.1%} of p are at most 0.05', [] if low < share < high else [str(share)])

# ---- many p-values --------------------------------------------------------------------------------------------
lists = [[rng.random() ** 3 for _ in range(rng.randint(1, 60))] for _ in range(200)] + [[0.01, 0.01, 0.5], [1.0], [0.04] * 9]


def adjusted(p):
    order = sorted(range(len(p)), key=lambda i: -p[i])
    least, out = 1, [0] * len(p)
    for below, i in enumerate(order):
        least = min(least, p[i] * len(p) / (len(p) - below))
        out[i] = least
    return out


adjust = getattr(stats, 'false_discovery_control', adjusted)  # from scipy 1.11 on
wrong = [f'{g}, not {w}' for p, got in zip(lists, calculate([f'adjust {text(p)}' for p in lists]))
         for g, w in zip(got, adjust(p)) if differs(g, w)]
check(f'p-values among others: {len(lists)} lists', wrong)


# ---- blocks, drawn again: the ends lie where as many draws of numpy's are outside ----------------------------
def blocks(scale):
    def one():
        busy = rng.choice([1, 4])
        return [int(rng.expovariate(1 / (scale * busy))) for _ in range(rng.randint(0, 40))]
    return [one() for _ in range(60)]


# How often each block is drawn says how often each of its values is there.
def draws(of, part, count):
    values = numpy.concatenate(of)
    order = numpy.argsort(values)
    block = numpy.repeat(numpy.arange(len(of)), [len(b) for b in of])[order]
    ranks = numpy.cumsum(numpy_rng.multinomial(len(of), [1 / len(of)] * len(of), count)[:, block], axis=1)
    want = numpy.maximum(1, numpy.ceil(part * ranks[:, -1:]))
    return values[order][numpy.argmax(ranks >= want, axis=1)]


numpy_rng = numpy.random.default_rng(17)
cases = [(part, blocks(1000), blocks(scale)) for part in (0.5, 0.9, 0.99) for scale in (1000, 1500, 3000)]
lines = [f'quantiles {part} ' + ' / '.join(' '.join(','.join(map(str, b)) or ',' for b in side) for side in (a, b))
         for part, a, b in cases]
wrong = []
for (part, a, b), (low, high) in zip(cases, calculate(lines)):
    d = draws(b, part, 2000) - draws(a, part, 2000)
    slack = 0.01 * (abs(low) + abs(high))  # of histograms
    below, above = numpy.mean(d < low + slack), numpy.mean(d > high - slack)
    under, over = numpy.mean(d < low - slack), numpy.mean(d > high + slack)
    if not (under < 0.045 and below > 0.01 and over < 0.045 and above > 0.01):
        wrong.append(f'{part}: [{low}, {high}]: {under} to {below} below, {over} to {above} above')
check('quantiles of blocks', wrong)
print(f'1..{nr}')
sys.exit(bool(failed))
