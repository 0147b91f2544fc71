"""Layers and cost of an encoder with their derivatives, one pass each, for training."""

from .compile import announced, compiled


@announced
@compiled
def clip_layer(x, d, t, below, r):
    """R <- clip(x, d - t - below, d + t)."""
    for i in range(x.shape[0]):
        xi, di, ri = x[i], d[i], r[i]
        for j in range(t.size):
            high, low = di[j] + t[j], di[j] - t[j] - below
            value = xi[j] if xi[j] < high else high
            ri[j] = value if value > low else low


@announced
@compiled
def clip_slopes(x, r, slope, by_d, by_t):
    """Derivatives of `clip_layer`: where r is x both are 0, elsewhere 1 by d and the sign of x - r by t."""
    nothing = x.dtype.type(0)
    for i in range(x.shape[0]):
        xi, ri, si, gi = x[i], r[i], slope[i], by_d[i]
        for j in range(xi.size):
            above, below = xi[j] > ri[j], xi[j] < ri[j]
            rising = si[j] if above else nothing
            falling = si[j] if below else nothing
            gi[j] = rising + falling
            by_t[j] += rising - falling


@announced
@compiled
def misfit_cost(x, low_rank, outliers, lam, misfit, cost):
    """Misfit e = x - Us - o, and 1/2 ||e||^2 + lam ||o||_1 for each sample."""
    half = x.dtype.type(0.5)
    for i in range(x.shape[0]):
        xi, li, oi, ei = x[i], low_rank[i], outliers[i], misfit[i]
        total = x.dtype.type(0)
        for j in range(xi.size):
            e = xi[j] - li[j] - oi[j]
            ei[j] = e
            total += half * e * e + lam[j] * abs(oi[j])
        cost[i] = total


@announced
@compiled
def misfit_slopes(misfit, outliers, lam, slope, by_low_rank, by_outliers):
    """Derivatives of `misfit_cost`: -e by Us, and lam sign(o) - e by o."""
    nothing = misfit.dtype.type(0)
    for i in range(misfit.shape[0]):
        ei, oi, li, gi = misfit[i], outliers[i], by_low_rank[i], by_outliers[i]
        factor = slope[i]
        for j in range(ei.size):
            pull = -factor * ei[j]
            push = factor * lam[j]
            li[j] = pull
            up = push if oi[j] > 0 else nothing
            gi[j] = pull + (up if oi[j] >= 0 else -push)
