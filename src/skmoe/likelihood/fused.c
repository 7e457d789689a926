/* Responsibilities of linear experts with Gaussian noise and the sums of a step, in one loop over a block of rows; see
   fused.py, which calls this. */

#define REAL double
#define OF_REAL(name) name##_double
#include "strips.h"

#define STRIP STRIP_OF(REAL)

/* Signature of the functions below; fused.py checks it, so that an older library is not called by newer code. */
int skmoe_fused_version(void) { return 1; }

/* For S models of k experts and b rows.

   logits, residual (S, k, b): the gate's logits and the experts' predictors; left as weighted differences of
   responsibilities and gate, and as weighted residuals.
   y, weight: element (s, i) at i * row + s * model; a null weight is 1.
   log_scale, half_precision (S, k): log of the noise and 1 / (2 noise^2).
   log_density (S), share, squares (S, k): weighted sums over rows, of responsibilities and of squared residuals times
   these.
   hessian_weights: null, or (2, S, k, b), responsibilities and p (1 - p) of the gate, weighted.
   work: 2 k STRIP numbers. */
EVERY_MACHINE
void skmoe_fused_sums(ptrdiff_t S, ptrdiff_t k, ptrdiff_t b, double *restrict logits, double *restrict residual,
                      const double *y, ptrdiff_t y_row, ptrdiff_t y_model, const double *weight, ptrdiff_t weight_row,
                      ptrdiff_t weight_model, const double *log_scale, const double *half_precision,
                      double *log_density, double *share, double *squares, double *restrict hessian_weights,
                      double *restrict work) {
    for (ptrdiff_t s = 0; s < S; s++) {
        double total = 0;
        for (ptrdiff_t c = s * k; c < (s + 1) * k; c++) share[c] = squares[c] = 0;
        for (ptrdiff_t at = 0; at < b; at += STRIP) {
            const ptrdiff_t m = b - at < STRIP ? b - at : STRIP, first = s * k * b + at;
            double out[STRIP], w[STRIP];
            for (ptrdiff_t i = 0; i < m; i++) out[i] = y[s * y_model + (at + i) * y_row];
            for (ptrdiff_t i = 0; i < m; i++) w[i] = weight ? weight[s * weight_model + (at + i) * weight_row] : 1.0;
            double *expert = hessian_weights ? hessian_weights + first : NULL;
            double *gate = hessian_weights ? expert + S * k * b : NULL;
            total += strip_sums_double(k, m, b, logits + first, residual + first, out, w, log_scale + s * k,
                                       half_precision + s * k, share + s * k, squares + s * k, expert, gate, work,
                                       LEAST_LOG);
        }
        log_density[s] = total;
    }
}
