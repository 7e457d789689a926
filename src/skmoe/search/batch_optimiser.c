/* The optimiser of a batch of models of one problem by EM and L-BFGS steps, as in batch_optimiser.py: here one model
   after the other, each for some steps, so that nothing but its rows moves through the caches. For linear experts with
   Gaussian noise; see compiled.py, which calls this.

   Rows come in strips, the last one padded with rows of weight zero: 64 in double precision, 128 in float32, which
   takes about half the time and is enough to compare optima. */

#include <math.h>
#include <stddef.h>

#define WHOLE STRIP_OF(double) /* doubles in the memory of a strip, of either precision */
#define WIDEST 8               /* doubles in the memory of a vector, likewise */
#define TILE 3                 /* of Gram matrices: nine sums stay in registers */

enum noise { KNOWN, SHARED, PER_EXPERT };

/* Signature of this struct and of the functions below; compiled.py asks for it. */
int skmoe_batch_version(void) { return 7; }

typedef struct {
    ptrdiff_t strips, inputs;                     /* inputs of a strip, with the padding of tiles */
    ptrdiff_t De, Dg, gate_at;                    /* inputs of experts and gate; first of the gate's, 0 if they are the same */
    ptrdiff_t k, noise, pairs;                    /* pairs that L-BFGS remembers */
    ptrdiff_t y_model, weight_model;              /* distance of two models' outputs and weights, 0 if they share them */
    ptrdiff_t single, refresh;                    /* whether rows are in float32; steps that a curvature is used for */
    double total, floor, spread;                  /* weight of all rows, least noise scale, standard deviation of y */
    double rounding, sufficient, shrink, give_up; /* of steps, as batch_optimiser.py explains them */
    double most_spreads, least_weight;            /* of a noise scale over that of y; rows of an expert in a curvature */
    const void *U;                                /* (strips, inputs, rows of a strip) */
    const void *y, *weight;                       /* (strips * rows of a strip) each, or of each model */
    const double *expert, *gate, *noise_dof;      /* (S) each: the penalty's strengths */
    const double *pooled, *fewest_rows;           /* (S, De), (S): what experts are shrunk towards; least rows of each */
    const double *base;                           /* (S): added to a log-likelihood */
    double *vector, *sigma;                       /* (S, P): experts, gate, logs of learned scales; (S, k) */
    double *objective, *log_likelihood, *share;   /* (S), (S), (S, k) */
    double *gradient, *direction, *size;          /* (S, P), (S, P), (S) */
    double *factors, *scales;                     /* (S, squares_of) Cholesky factors of EM's curvature; (S, k) */
    double *steps, *falls, *products;             /* (S, pairs, P) twice, (S, pairs): L-BFGS, oldest first */
} batch;

/* The sums of an E-step over the rows for one model, divided by their weight; pointers into the work space. */
typedef struct {
    double log_likelihood;
    double *share, *squares;     /* (k) */
    double *expert, *gate;       /* (k, De), (k, Dg) gradients, the experts' times their variance */
    double *grams;               /* lower triangles: (k, De, De), then the gate's (k, Dg, Dg) */
    void *channels, *weights;    /* 2 k strips each */
    void *work;                  /* 2 k strips */
    void *scaled;                /* strips, as many as inputs at least */
    void *sums, *tiles;          /* vectors: sums by channel and input, sums of tiles by channel */
    double *log_scale, *half;    /* (k) */
} estep;

/* A number of inputs, rounded up to whole tiles. */
static ptrdiff_t in_tiles(ptrdiff_t D) { return (D + TILE - 1) / TILE * TILE; }

/* Sums of the tiles of a Gram matrix. */
static ptrdiff_t tiles_of(ptrdiff_t D) { return in_tiles(D) * (in_tiles(D) + TILE) / 2; }

/* Inputs of a channel: experts come first, then the gate. */
static ptrdiff_t inputs_of(const batch *m, ptrdiff_t c) { return c < m->k ? m->De : m->Dg; }

/* Coefficients of experts and gate. */
static ptrdiff_t coefficients(const batch *m) { return m->k * (m->De + m->Dg); }

/* -- E-steps --------------------------------------------------------------------------------------------------------- */

#define WIDEST_MACHINE __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))

#define REAL double
#define OF_REAL(name) name##_double
#include "../likelihood/strips.h"
#define LANES 4
#define OF_WIDTH(name) name##_narrow_double
#define MACHINES EVERY_MACHINE
#define IN_REGISTER(v) (void)0
#include "estep.h"
#ifdef SKMOE_CLONES
#define LANES 8
#define OF_WIDTH(name) name##_wide_double
#define MACHINES WIDEST_MACHINE
#define IN_REGISTER(v) __asm__("" : "+v"(v))
#include "estep.h"
#endif
#undef REAL
#undef OF_REAL

#define REAL float
#define OF_REAL(name) name##_float
#include "../likelihood/strips.h"
#define LANES 8
#define OF_WIDTH(name) name##_narrow_float
#define MACHINES EVERY_MACHINE
#define IN_REGISTER(v) (void)0
#include "estep.h"
#ifdef SKMOE_CLONES
#define LANES 16
#define OF_WIDTH(name) name##_wide_float
#define MACHINES WIDEST_MACHINE
#define IN_REGISTER(v) __asm__("" : "+v"(v))
#include "estep.h"
#endif
#undef REAL
#undef OF_REAL

static ptrdiff_t parameters(const batch *m) {
    return coefficients(m) + (m->noise == KNOWN ? 0 : m->noise == SHARED ? 1 : m->k);
}

static ptrdiff_t squares_of(const batch *m) { return m->k * (m->De * m->De + m->Dg * m->Dg); }

/* Doubles of work space that a call needs. */
ptrdiff_t skmoe_batch_work(const batch *m) {
    const ptrdiff_t k = m->k, sums = in_tiles(m->De) + in_tiles(m->Dg), tiles = tiles_of(m->De) + tiles_of(m->Dg);
    return 4 * k + coefficients(m) + squares_of(m) + 6 * k * WHOLE + sums * WHOLE + k * (sums + tiles) * WIDEST + k +
           4 * parameters(m) + m->pairs;
}

static double *take(double **from, ptrdiff_t count) {
    double *start = *from;
    *from += count;
    return start;
}

/* A function of the rows' precision, with the widest vectors there are. */
#define NARROW(name) (m->single ? name##_narrow_float : name##_narrow_double)
#ifdef SKMOE_CLONES
static int has_wide_vectors(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
}
#define WIDEST_VECTORS(name) (has_wide_vectors() ? (m->single ? name##_wide_float : name##_wide_double) : NARROW(name))
#else
#define WIDEST_VECTORS(name) NARROW(name)
#endif

static void e_step(const batch *m, ptrdiff_t s, const double *vector, const double *sigma, estep *at, int with_grams) {
    WIDEST_VECTORS(e_step)(m, s, vector, sigma, at, with_grams);
}

/* -- small matrices -------------------------------------------------------------------------------------------------- */

/* Cholesky factor of a lower triangle G, times `precision`, with a ridge and that of with_ridge in batch_em.py. */
static void factorise(ptrdiff_t D, const double *G, double precision, double ridge, double *L) {
    double trace = 0;
    for (ptrdiff_t d = 0; d < D; d++) trace += G[d * D + d] * precision + ridge;
    ridge += 1e-9 * trace / D + 1e-14;
    for (ptrdiff_t i = 0; i < D; i++)
        for (ptrdiff_t j = 0; j <= i; j++) {
            double left = G[i * D + j] * precision + (i == j ? ridge : 0);
            for (ptrdiff_t e = 0; e < j; e++) left -= L[i * D + e] * L[j * D + e];
            if (i != j)
                L[i * D + j] = left * L[j * D + j];
            else /* reciprocals of the diagonal; a pivot lost to rounding is that of a white Gram matrix */
                L[i * D + i] = 1.0 / sqrt(left > 0 ? left : trace / D + 1e-14);
        }
}

/* x with L L' x = b. */
static void solve(ptrdiff_t D, const double *L, const double *b, double *x) {
    for (ptrdiff_t i = 0; i < D; i++) {
        double left = b[i];
        for (ptrdiff_t j = 0; j < i; j++) left -= L[i * D + j] * x[j];
        x[i] = left * L[i * D + i];
    }
    for (ptrdiff_t i = D - 1; i >= 0; i--) {
        x[i] *= L[i * D + i];
        for (ptrdiff_t j = 0; j < i; j++) x[j] -= L[i * D + j] * x[i];
    }
}

static double dot(ptrdiff_t count, const double *a, const double *b) {
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (ptrdiff_t i = 0; i < count; i++) total += a[i] * b[i];
    return total;
}

/* -- the objective and its gradient ---------------------------------------------------------------------------------- */

/* Scales of a vector, whose logs are held between the floor and its most. */
static void scales_of(const batch *m, double *vector, double *sigma) {
    double *logs = vector + coefficients(m);
    if (m->noise == KNOWN) return;
    for (ptrdiff_t c = 0; c < m->k; c++) {
        if (c == 0 || m->noise == PER_EXPERT) {
            const double scale = exp(logs[c]), most = m->most_spreads * m->spread;
            sigma[c] = scale > most ? most : scale < m->floor ? m->floor : scale;
            logs[c] = log(sigma[c]);
        } else {
            sigma[c] = sigma[0];
        }
    }
}

/* Log cosh, without overflow. */
static double log_cosh(double x) {
    const double away = fabs(x);
    return away + log1p(exp(-2 * away)) - log(2);
}

/* Mean of `count` numbers, `apart` from each other. */
static double mean_over(ptrdiff_t count, ptrdiff_t apart, const double *from) {
    double total = 0;
    for (ptrdiff_t c = 0; c < count; c++) total += from[c * apart];
    return total / count;
}

/* Mean log-likelihood less the penalty. */
static double objective_of(const batch *m, ptrdiff_t s, const double *vector, const estep *at) {
    const ptrdiff_t k = m->k, De = m->De, Dg = m->Dg;
    const double *A = vector, *W = vector + k * De, *pooled = m->pooled + s * De;
    double gate = 0, experts = 0, noise = 0;
    for (ptrdiff_t d = 0; d < Dg; d++) {
        const double mean = mean_over(k, Dg, W + d);
        for (ptrdiff_t c = 0; c < k; c++) gate += (W[c * Dg + d] - mean) * (W[c * Dg + d] - mean);
    }
    for (ptrdiff_t i = 0; i < k * De; i++) experts += (A[i] - pooled[i % De]) * (A[i] - pooled[i % De]);
    if (!(m->expert[s] > 0)) return at->log_likelihood - 0.5 * m->gate[s] * gate;
    for (ptrdiff_t c = 0; m->noise != KNOWN && c < k; c++) noise += log_cosh(at->log_scale[c] - log(m->spread));
    return at->log_likelihood - 0.5 * m->gate[s] * gate - 0.5 * m->expert[s] * experts - m->noise_dof[s] * noise;
}

/* Gradient of the objective. */
static void gradient_of(const batch *m, ptrdiff_t s, const double *vector, const double *sigma, const estep *at,
                   double *gradient) {
    const ptrdiff_t k = m->k, De = m->De, Dg = m->Dg;
    const double *A = vector, *W = vector + k * De, *pooled = m->pooled + s * De;
    for (ptrdiff_t i = 0; i < k * De; i++)
        gradient[i] = at->expert[i] * 2 * at->half[i / De] - m->expert[s] * (A[i] - pooled[i % De]);
    for (ptrdiff_t d = 0; d < Dg; d++) {
        const double mean = mean_over(k, Dg, W + d);
        for (ptrdiff_t i = d; i < k * Dg; i += Dg) gradient[k * De + i] = at->gate[i] - m->gate[s] * (W[i] - mean);
    }
    if (m->noise == KNOWN) return;
    double *noise = gradient + coefficients(m), all = 0;
    for (ptrdiff_t c = 0; c < k; c++) {
        const double pull = m->noise_dof[s] * tanh(at->log_scale[c] - log(m->spread));
        const double slope = at->squares[c] * 2 * at->half[c] - at->share[c] - pull;
        if (m->noise == SHARED)
            all += slope;
        else
            noise[c] = sigma[c] <= m->floor * (1 + 1e-9) && slope < 0 ? 0 : slope;
    }
    if (m->noise == SHARED) noise[0] = sigma[0] <= m->floor * (1 + 1e-9) && all < 0 ? 0 : all;
}

/* EM's curvature at an E-step with Gram matrices. */
static void set_curvature(const batch *m, ptrdiff_t s, const estep *at) {
    const ptrdiff_t k = m->k, De = m->De, Dg = m->Dg;
    double *factors = m->factors + s * squares_of(m), *gates = factors + k * De * De, *scales = m->scales + s * k;
    const double least = m->least_weight / m->total;
    for (ptrdiff_t c = 0; c < k; c++) {
        factorise(De, at->grams + c * De * De, 2 * at->half[c], m->expert[s], factors + c * De * De);
        factorise(Dg, at->grams + k * De * De + c * Dg * Dg, 1.0, m->gate[s], gates + c * Dg * Dg);
        const double pull = tanh(at->log_scale[c] - log(m->spread));
        scales[c] = 1.0 / (2 * (at->share[c] > least ? at->share[c] : least) + m->noise_dof[s] * (1 - pull * pull));
    }
}

/* A gradient times the inverse curvature. */
static void precondition(const batch *m, ptrdiff_t s, const double *gradient, double *out) {
    const ptrdiff_t k = m->k;
    const double *factors = m->factors + s * squares_of(m), *scales = m->scales + s * k;
    for (ptrdiff_t c = 0, i = 0; c < 2 * k; c++) {
        const ptrdiff_t D = inputs_of(m, c);
        solve(D, factors, gradient + i, out + i);
        factors += D * D, i += D;
    }
    const double *noise = gradient + coefficients(m);
    double *noise_out = out + coefficients(m), all = 0;
    for (ptrdiff_t c = 0; c < k; c++) all += 1.0 / scales[c];
    if (m->noise == SHARED) noise_out[0] = noise[0] / all;
    for (ptrdiff_t c = 0; m->noise == PER_EXPERT && c < k; c++) noise_out[c] = noise[c] * scales[c];
}

/* -- directions ------------------------------------------------------------------------------------------------------ */

/* Logs of the scales after an EM step that moves experts by `steps`; `logs` holds k numbers. */
static void em_logs(const batch *m, ptrdiff_t s, const estep *at, const double *steps, double *logs) {
    const ptrdiff_t k = m->k, D = m->De, groups = m->noise == SHARED ? 1 : k;
    const double dof = m->noise_dof[s] * (m->noise == SHARED ? k : 1);
    const double least = m->floor * m->floor, unit = m->spread * m->spread;
    double left[groups], mass[groups];
    memset(left, 0, sizeof left);
    memset(mass, 0, sizeof mass);
    for (ptrdiff_t c = 0; c < k; c++) {
        const double *G = at->grams + c * D * D, *step = steps + c * D;
        double after = at->squares[c] - 2 * dot(D, step, at->expert + c * D);
        for (ptrdiff_t d = 0; d < D; d++) after += step[d] * (2 * dot(d, G + d * D, step) + G[d * D + d] * step[d]);
        left[groups == 1 ? 0 : c] += after;
        mass[groups == 1 ? 0 : c] += at->share[c] > 2.2250738585072014e-308 ? at->share[c] : 2.2250738585072014e-308;
    }
    for (ptrdiff_t c = 0; c < groups; c++) {
        /* as NoiseFamily.updated_scales in gaussian.py */
        const double squares = (left[c] > least * mass[c] ? left[c] : least * mass[c]) / unit;
        const double a = mass[c] + dof, b = squares - mass[c] + dof, root = sqrt(b * b + 4 * a * squares);
        const double variance = unit * (b > 0 ? (b + root) / (2 * a) : 2 * squares / (root - b));
        logs[c] = 0.5 * log(variance > least ? variance : least);
    }
}

/* The direction of an EM step. */
static void em_direction(const batch *m, ptrdiff_t s, const estep *at) {
    const ptrdiff_t P = parameters(m), noises = P - coefficients(m);
    double *direction = m->direction + s * P, *noise = direction + coefficients(m);
    precondition(m, s, m->gradient + s * P, direction);
    if (m->noise == KNOWN) return;
    em_logs(m, s, at, direction, noise);
    for (ptrdiff_t c = 0; c < noises; c++) noise[c] -= m->vector[s * P + coefficients(m) + c];
}

static void forget(const batch *m, ptrdiff_t s) {
    const ptrdiff_t count = m->pairs * parameters(m);
    memset(m->steps + s * count, 0, sizeof(double) * count);
    memset(m->falls + s * count, 0, sizeof(double) * count);
    for (ptrdiff_t i = 0; i < m->pairs; i++) m->products[s * m->pairs + i] = 1;
}

/* Whether there is a pair of model s. */
static int remembers(const batch *m, ptrdiff_t s) {
    const double *last = m->steps + ((s + 1) * m->pairs - 1) * parameters(m);
    for (ptrdiff_t i = 0; i < parameters(m); i++)
        if (last[i] != 0) return 1;
    return 0;
}

/* A new pair of model s, which moves to `vector` with `gradient`; all are forgotten where the curvature is wrong. */
static void remember(const batch *m, ptrdiff_t s, const double *vector, const double *gradient) {
    const ptrdiff_t P = parameters(m), last = m->pairs - 1;
    double *steps = m->steps + s * m->pairs * P, *falls = m->falls + s * m->pairs * P, *products = m->products + s * m->pairs;
    const double *before = m->vector + s * P, *slope = m->gradient + s * P;
    double product = 0, length = 0, fall = 0;
    for (ptrdiff_t i = 0; i < P; i++) {
        const double step = vector[i] - before[i], change = slope[i] - gradient[i];
        product += step * change;
        length += step * step;
        fall += change * change;
    }
    if (!(product > 1e-10 * sqrt(length * fall))) {
        forget(m, s);
        return;
    }
    memmove(steps, steps + P, sizeof(double) * last * P);
    memmove(falls, falls + P, sizeof(double) * last * P);
    memmove(products, products + 1, sizeof(double) * last);
    for (ptrdiff_t i = 0; i < P; i++) {
        steps[last * P + i] = vector[i] - before[i];
        falls[last * P + i] = slope[i] - gradient[i];
    }
    products[last] = product;
}

/* A new direction by the two loops of L-BFGS, where missing pairs are zero; EM's where it is no direction of ascent. */
static void new_direction(const batch *m, ptrdiff_t s, double *left, double *used) {
    const ptrdiff_t P = parameters(m), pairs = m->pairs;
    const double *steps = m->steps + s * pairs * P, *falls = m->falls + s * pairs * P, *products = m->products + s * pairs;
    const double *gradient = m->gradient + s * P;
    double *direction = m->direction + s * P;
    memcpy(left, gradient, sizeof(double) * P);
    for (ptrdiff_t i = pairs - 1; i >= 0; i--) {
        used[i] = dot(P, steps + i * P, left) / products[i];
        for (ptrdiff_t j = 0; j < P; j++) left[j] -= used[i] * falls[i * P + j];
    }
    precondition(m, s, left, direction);
    for (ptrdiff_t i = 0; i < pairs; i++) {
        const double more = used[i] - dot(P, falls + i * P, direction) / products[i];
        for (ptrdiff_t j = 0; j < P; j++) direction[j] += more * steps[i * P + j];
    }
    if (!(dot(P, gradient, direction) > 0)) {
        forget(m, s);
        precondition(m, s, gradient, direction);
    }
}

/* -- steps ----------------------------------------------------------------------------------------------------------- */

static estep estep_in(const batch *m, double **work) {
    const ptrdiff_t k = m->k, sums = in_tiles(m->De) + in_tiles(m->Dg), tiles = tiles_of(m->De) + tiles_of(m->Dg);
    estep at = {0};
    /* those read by vectors first: the work space begins at a line of the cache, and they fill whole ones */
    at.channels = take(work, 2 * k * WHOLE), at.weights = take(work, 2 * k * WHOLE);
    at.work = take(work, 2 * k * WHOLE);
    at.scaled = take(work, sums * WHOLE);
    at.sums = take(work, k * sums * WIDEST);
    at.tiles = take(work, k * tiles * WIDEST);
    at.share = take(work, k), at.squares = take(work, k), at.log_scale = take(work, k), at.half = take(work, k);
    at.expert = take(work, coefficients(m)), at.gate = at.expert + k * m->De;
    at.grams = take(work, squares_of(m));
    return at;
}

/* Move model s to the point of its last E-step. */
static void accept(const batch *m, ptrdiff_t s, const double *vector, const double *sigma, const double *gradient,
                     const estep *at, double value) {
    const ptrdiff_t P = parameters(m);
    memcpy(m->vector + s * P, vector, sizeof(double) * P);
    memcpy(m->sigma + s * m->k, sigma, sizeof(double) * m->k);
    memcpy(m->gradient + s * P, gradient, sizeof(double) * P);
    memcpy(m->share + s * m->k, at->share, sizeof(double) * m->k);
    m->objective[s] = value;
    m->log_likelihood[s] = at->log_likelihood;
}

/* Objective, gradient, curvature and EM's direction at the start of models first to last - 1. */
void skmoe_batch_begin(const batch *m, ptrdiff_t first, ptrdiff_t last, double *work) {
    estep at = estep_in(m, &work);
    const ptrdiff_t P = parameters(m);
    for (ptrdiff_t s = first; s < last; s++) {
        double *vector = m->vector + s * P, *sigma = m->sigma + s * m->k, *gradient = m->gradient + s * P;
        e_step(m, s, vector, sigma, &at, 1);
        gradient_of(m, s, vector, sigma, &at, gradient);
        accept(m, s, vector, sigma, gradient, &at, objective_of(m, s, vector, &at));
        set_curvature(m, s, &at);
        em_direction(m, s, &at);
        forget(m, s);
    }
}

/* EM's directions become those of L-BFGS without any pairs. */
void skmoe_batch_switch(const batch *m, ptrdiff_t first, ptrdiff_t last) {
    const ptrdiff_t P = parameters(m);
    for (ptrdiff_t s = first; s < last; s++) {
        forget(m, s);
        precondition(m, s, m->gradient + s * P, m->direction + s * P);
        m->size[s] = 1;
    }
}

/* Take `count` steps of models first to last - 1, of L-BFGS or of EM; `age` steps were made before. */
void skmoe_batch_steps(const batch *m, ptrdiff_t first, ptrdiff_t last, ptrdiff_t count, ptrdiff_t age, int quasi_newton,
                       double *work) {
    estep at = estep_in(m, &work);
    const ptrdiff_t k = m->k, P = parameters(m);
    double *sigma = take(&work, k), *vector = take(&work, P), *gradient = take(&work, P), *left = take(&work, P);
    double *used = take(&work, m->pairs);
    for (ptrdiff_t s = first; s < last; s++)
        for (ptrdiff_t step = age; step < age + count; step++) {
            const int fresh = !quasi_newton || step % m->refresh == 0;
            const double size = m->size[s], before = m->objective[s];
            const double *direction = m->direction + s * P;
            for (ptrdiff_t i = 0; i < P; i++) vector[i] = m->vector[s * P + i] + size * direction[i];
            memcpy(sigma, m->sigma + s * k, sizeof(double) * k);
            scales_of(m, vector, sigma);
            e_step(m, s, vector, sigma, &at, fresh);
            const double value = objective_of(m, s, vector, &at);
            double slope = quasi_newton ? dot(P, m->gradient + s * P, direction) : 0;
            slope = slope > 0 ? slope : 0;
            int enough = isfinite(value) && value >= before + m->sufficient * size * slope - m->rounding * (1 + fabs(before));
            for (ptrdiff_t c = 0; c < k; c++) enough &= at.share[c] * m->total >= m->fewest_rows[s];
            const int give_up = !enough && size < m->give_up && remembers(m, s); /* EM's steps may have to be far shorter */
            if (enough) {
                gradient_of(m, s, vector, sigma, &at, gradient);
                if (quasi_newton) remember(m, s, vector, gradient);
                if (fresh) set_curvature(m, s, &at);
                accept(m, s, vector, sigma, gradient, &at, value > before ? value : before);
            }
            if (give_up) forget(m, s);
            m->size[s] = enough || give_up ? 1 : size * m->shrink;
            if (quasi_newton && (enough || give_up)) new_direction(m, s, left, used);
            if (!quasi_newton && enough) em_direction(m, s, &at);
        }
}
