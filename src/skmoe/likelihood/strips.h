/* Sums over a strip of rows for a mixture of linear experts with Gaussian noise; NumPy takes two dozen passes over the
   same numbers. Included by fused.c, and by the search's batch_optimiser.c once for each precision: REAL is the type of
   the numbers, OF_REAL appends it to names.

   A strip stays in the level-1 cache. Exponentials and logarithms are polynomials that compilers turn into vector code,
   right to two units in the last place. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef SKMOE_STRIPS_H
#define SKMOE_STRIPS_H

#define STRIP_OF(real) (512 / (ptrdiff_t)sizeof(real))
#define LEAST_LOG (-80.0) /* as in model/posterior.py: smaller probabilities do not change a sum, but are slow */
/* In single precision weights and squared residuals times e^-80 are subnormal, and a processor takes a hundred times as
   long over each: fits of well separated experts took two to three times as long. */
#define LEAST_LOG_OF(real) (sizeof(real) == sizeof(float) ? -50.0 : LEAST_LOG)

/* The machine's widest vectors, chosen when the library is loaded. */
#ifdef SKMOE_CLONES
#define EVERY_MACHINE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EVERY_MACHINE
#endif
#define INSIDE static inline __attribute__((always_inline))

/* exp(x) = 2^n exp(r) for x <= 0, |r| <= log(2) / 2; below `least` that of `least`. */
INSIDE double exponential_double(double x, const double least) {
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: added, it leaves n in the lowest bits */
    x = x < least ? least : x;
    const double shifted = x * 1.4426950408889634074 + shift, n = shifted - shift;
    const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double p = 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + 0x3ff0000000000000u;
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* exp(x) in single precision. */
INSIDE float exponential_float(float x, const float least) {
    const float shift = 12582912.0f; /* 1.5 * 2^23 */
    x = x < least ? least : x;
    const float shifted = x * 1.44269504f + shift, n = shifted - shift;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + 0x3f800000u;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* log(x) = e log(2) + 2 artanh(f), f = (m - 1) / (m + 1), for a normal x = 2^e m with m about 1. */
INSIDE double logarithm_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t power = (bits - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u; /* m from sqrt(1/2) on */
    bits -= power;
    double m, e;
    memcpy(&m, &bits, sizeof m);
    const uint64_t whole = ((power >> 52) ^ 0x800u) | 0x4330000000000000u; /* 2^52 + 2048 + e, as a double */
    memcpy(&e, &whole, sizeof e);
    e -= 4503599627370496.0 + 2048.0;
    const double f = (m - 1.0) / (m + 1.0), q = f * f;
    double p = 1.0 / 21;
    p = p * q + 1.0 / 19;
    p = p * q + 1.0 / 17;
    p = p * q + 1.0 / 15;
    p = p * q + 1.0 / 13;
    p = p * q + 1.0 / 11;
    p = p * q + 1.0 / 9;
    p = p * q + 1.0 / 7;
    p = p * q + 1.0 / 5;
    p = p * q + 1.0 / 3;
    return e * 0.69314718055994530942 + 2.0 * (f + f * q * p) + (x - x); /* what is not finite stays so */
}

/* log(x) in single precision. */
INSIDE float logarithm_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t power = (bits - 0x3f3504f3u) & 0xff800000u;
    bits -= power;
    float m;
    memcpy(&m, &bits, sizeof m);
    const float e = (float)((int32_t)power / (1 << 23)), f = (m - 1.0f) / (m + 1.0f), q = f * f;
    float p = 1.0f / 9;
    p = p * q + 1.0f / 7;
    p = p * q + 1.0f / 5;
    p = p * q + 1.0f / 3;
    return e * 0.693147181f + 2.0f * (f + f * q * p) + (x - x);
}

#endif

/* Sums over one strip of m <= STRIP_OF(REAL) rows for one model of k experts.

   logits, residual: the gate's logits and the experts' predictors, those of two experts `stride` apart; left as
   weighted differences of responsibilities and gate, and as weighted residuals.
   out, w (m): outputs and weights.
   log_scale, half_precision (k): log of the noise and 1 / (2 noise^2).
   share, squares (k): weighted responsibilities, and squared residuals times these, are added to them.
   expert, curvature: null, or likewise `stride` apart, responsibilities and p (1 - p) of the gate, weighted.
   work: 2 k strips.
   least: log of the least probability; smaller ones count as that.

   Returns the weighted log density. */
INSIDE double OF_REAL(strip_sums)(const ptrdiff_t k, const ptrdiff_t m, const ptrdiff_t stride, REAL *restrict logits,
                                  REAL *restrict residual, const REAL *restrict out, const REAL *restrict w,
                                  const double *restrict log_scale, const double *restrict half_precision,
                                  double *restrict share, double *restrict squares, REAL *restrict expert,
                                  REAL *restrict curvature, REAL *restrict work, const REAL least) {
    enum { STRIP = STRIP_OF(REAL) };
    REAL *restrict gate = work, *restrict joint_terms = work + k * STRIP;
    REAL top[STRIP], peak[STRIP], gates[STRIP], joints[STRIP];
    for (ptrdiff_t i = 0; i < m; i++) top[i] = peak[i] = -1.0 / 0.0, gates[i] = joints[i] = 0;
    for (ptrdiff_t c = 0; c < k; c++) {
        const REAL *restrict l = logits + c * stride;
        for (ptrdiff_t i = 0; i < m; i++) top[i] = l[i] > top[i] ? l[i] : top[i];
    }
    for (ptrdiff_t c = 0; c < k; c++) {
        const REAL *restrict l = logits + c * stride;
        REAL *restrict r = residual + c * stride, *restrict joint = joint_terms + c * STRIP, *restrict p = gate + c * STRIP;
        const REAL h = half_precision[c], log_s = log_scale[c];
#pragma omp simd
        for (ptrdiff_t i = 0; i < m; i++) {
            const REAL e = out[i] - r[i], below = l[i] - top[i], j = below - h * (e * e) - log_s;
            r[i] = e;
            p[i] = below;
            joint[i] = j;
            peak[i] = j > peak[i] ? j : peak[i];
        }
    }
    for (ptrdiff_t c = 0; c < k; c++) {
        REAL *restrict joint = joint_terms + c * STRIP, *restrict p = gate + c * STRIP;
#pragma omp simd
        for (ptrdiff_t i = 0; i < m; i++) {
            p[i] = OF_REAL(exponential)(p[i], least);
            joint[i] = OF_REAL(exponential)(joint[i] - peak[i], least);
            gates[i] += p[i];
            joints[i] += joint[i];
        }
    }
    REAL total = 0;
#pragma omp simd reduction(+ : total)
    for (ptrdiff_t i = 0; i < m; i++) {
        total += w[i] * (peak[i] + OF_REAL(logarithm)(joints[i] / gates[i]));
        gates[i] = 1 / gates[i];
        joints[i] = w[i] / joints[i];
    }
    for (ptrdiff_t c = 0; c < k; c++) {
        const REAL *restrict joint = joint_terms + c * STRIP, *restrict p = gate + c * STRIP;
        REAL *restrict l = logits + c * stride, *restrict r = residual + c * stride;
        REAL mass = 0, square = 0;
        if (expert) {
            REAL *restrict a = expert + c * stride, *restrict q = curvature + c * stride;
#pragma omp simd
            for (ptrdiff_t i = 0; i < m; i++) {
                const REAL g = p[i] * gates[i];
                a[i] = joint[i] * joints[i];
                q[i] = w[i] * g * (1 - g);
            }
        }
#pragma omp simd reduction(+ : mass, square)
        for (ptrdiff_t i = 0; i < m; i++) {
            const REAL a = joint[i] * joints[i], e = r[i];
            mass += a;
            square += a * (e * e);
            l[i] = a - w[i] * (p[i] * gates[i]);
            r[i] = a * e;
        }
        share[c] += mass;
        squares[c] += square;
    }
    return total;
}
