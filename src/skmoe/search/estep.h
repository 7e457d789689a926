/* The E-step of one model: sums over the rows; included by batch_optimiser.c for each precision and width of vectors.

   REAL is the type of the numbers, LANES how many of them make a vector, OF_REAL and OF_WIDTH name what is defined by
   these, MACHINES says what processors it is compiled for, and IN_REGISTER keeps compilers from reading a vector that is
   used three times from memory three times. Log densities, shares and squares of strips add up in double precision. */

typedef REAL OF_WIDTH(vec) __attribute__((vector_size(LANES * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));
#define vec OF_WIDTH(vec)
#define loaded(from) (*(const vec *)(from))
#define STRIP STRIP_OF(REAL)

INSIDE double OF_WIDTH(across)(const REAL *from) {
    REAL halves[LANES / 2];
    for (int i = 0; i < LANES / 2; i++) halves[i] = from[i] + from[LANES / 2 + i];
    for (int left = LANES / 4; left > 0; left /= 2)
        for (int i = 0; i < left; i++) halves[i] += halves[left + i];
    return halves[0];
}

/* Predictors of `count` channels B (count, D) at a strip. */
INSIDE void OF_WIDTH(predictors)(const int count, ptrdiff_t D, const REAL *restrict B, const REAL *restrict U,
                                 REAL *restrict out) {
    for (ptrdiff_t v = 0; v < STRIP; v += 2 * LANES) {
        vec a[4] = {{0}}, b[4] = {{0}};
        for (ptrdiff_t d = 0; d < D; d++) {
            const vec u = loaded(U + d * STRIP + v), x = loaded(U + d * STRIP + v + LANES);
            for (int c = 0; c < count; c++) {
                a[c] += B[c * D + d] * u;
                b[c] += B[c * D + d] * x;
            }
        }
        for (int c = 0; c < count; c++) {
            *(vec *)(out + c * STRIP + v) = a[c];
            *(vec *)(out + c * STRIP + v + LANES) = b[c];
        }
    }
}

/* Predictors of any number of channels that have the same inputs. */
INSIDE void OF_WIDTH(all_predictors)(ptrdiff_t channels, ptrdiff_t D, const REAL *restrict B, const REAL *restrict U,
                                REAL *restrict out) {
    ptrdiff_t c = 0;
    for (; c + 4 <= channels; c += 4) OF_WIDTH(predictors)(4, D, B + c * D, U, out + c * STRIP);
    if (c + 2 <= channels) OF_WIDTH(predictors)(2, D, B + c * D, U, out + c * STRIP), c += 2;
    if (c < channels) OF_WIDTH(predictors)(1, D, B + c * D, U, out + c * STRIP);
}

/* Products of `count` channels R with TILE inputs, added to sums (count, padded, LANES). */
INSIDE void OF_WIDTH(gradients)(const int count, ptrdiff_t padded, const REAL *restrict R, const REAL *restrict U,
                                REAL *restrict sums) {
    vec a[4][TILE];
    for (int c = 0; c < count; c++)
        for (int d = 0; d < TILE; d++) a[c][d] = loaded(sums + (c * padded + d) * LANES);
    for (ptrdiff_t v = 0; v < STRIP; v += LANES) {
        const vec x = loaded(U + v), y = loaded(U + STRIP + v), z = loaded(U + 2 * STRIP + v);
        for (int c = 0; c < count; c++) {
            vec r = loaded(R + c * STRIP + v);
            IN_REGISTER(r);
            a[c][0] += r * x;
            a[c][1] += r * y;
            a[c][2] += r * z;
        }
    }
    for (int c = 0; c < count; c++)
        for (int d = 0; d < TILE; d++) *(vec *)(sums + (c * padded + d) * LANES) = a[c][d];
}

/* Products of any number of channels with the inputs that they share. */
INSIDE void OF_WIDTH(all_gradients)(ptrdiff_t channels, ptrdiff_t padded, const REAL *restrict R, const REAL *restrict U,
                             REAL *restrict sums) {
    for (ptrdiff_t d = 0; d < padded; d += TILE, U += TILE * STRIP, sums += TILE * LANES) {
        const ptrdiff_t apart = padded * LANES;
        ptrdiff_t c = 0;
        for (; c + 4 <= channels; c += 4) OF_WIDTH(gradients)(4, padded, R + c * STRIP, U, sums + c * apart);
        if (c + 2 <= channels) OF_WIDTH(gradients)(2, padded, R + c * STRIP, U, sums + c * apart), c += 2;
        if (c < channels) OF_WIDTH(gradients)(1, padded, R + c * STRIP, U, sums + c * apart);
    }
}

/* The Gram matrix of one channel's weights at a strip, added to its tiles. */
INSIDE void OF_WIDTH(gram)(ptrdiff_t padded, const REAL *restrict weight, const REAL *restrict U,
                           REAL *restrict scaled, REAL *restrict tiles) {
    for (ptrdiff_t d = 0; d < padded; d++)
        for (ptrdiff_t v = 0; v < STRIP; v++) scaled[d * STRIP + v] = weight[v] * U[d * STRIP + v];
    for (ptrdiff_t d = 0; d < padded; d += TILE)
        for (ptrdiff_t e = 0; e <= d; e += TILE, tiles += TILE * TILE * LANES) {
            vec a[TILE * TILE];
            for (int i = 0; i < TILE * TILE; i++) a[i] = loaded(tiles + i * LANES);
            for (ptrdiff_t v = 0; v < STRIP; v += LANES) {
                const vec x = loaded(scaled + d * STRIP + v), y = loaded(scaled + (d + 1) * STRIP + v),
                          z = loaded(scaled + (d + 2) * STRIP + v);
                for (int i = 0; i < TILE; i++) {
                    vec u = loaded(U + (e + i) * STRIP + v);
                    IN_REGISTER(u);
                    a[i] += x * u;
                    a[TILE + i] += y * u;
                    a[2 * TILE + i] += z * u;
                }
            }
            for (int i = 0; i < TILE * TILE; i++) *(vec *)(tiles + i * LANES) = a[i];
        }
}

/* Set channels B and scales from the given parameters, and sums to zero. */
INSIDE void OF_WIDTH(set_model)(const batch *m, const double *vector, const double *sigma, estep *at, REAL *restrict B) {
    for (ptrdiff_t i = 0; i < coefficients(m); i++) B[i] = vector[i];
    for (ptrdiff_t c = 0; c < m->k; c++) {
        at->log_scale[c] = log(sigma[c]);
        at->half[c] = 0.5 / (sigma[c] * sigma[c]);
        at->share[c] = at->squares[c] = 0;
    }
}

/* The sums over one strip for model s; returns its weighted log density. */
INSIDE double OF_WIDTH(strip_of)(const batch *m, ptrdiff_t s, ptrdiff_t strip, const REAL *restrict B, estep *at,
                                 REAL *restrict expert, REAL *restrict spread) {
    const ptrdiff_t k = m->k;
    const REAL *U = (const REAL *)m->U + strip * m->inputs * STRIP;
    const REAL *y = (const REAL *)m->y + s * m->y_model + strip * STRIP;
    const REAL *w = (const REAL *)m->weight + s * m->weight_model + strip * STRIP;
    REAL *const residual = at->channels, *const logits = residual + k * STRIP;
    if (m->gate_at) {
        OF_WIDTH(all_predictors)(k, m->De, B, U, residual);
        OF_WIDTH(all_predictors)(k, m->Dg, B + k * m->De, U + m->gate_at * STRIP, logits);
    } else {
        OF_WIDTH(all_predictors)(2 * k, m->De, B, U, residual);
    }
    return OF_REAL(strip_sums)(k, STRIP, STRIP, logits, residual, y, w, at->log_scale, at->half, at->share, at->squares,
                               expert, spread, at->work, LEAST_LOG_OF(REAL));
}

/* The E-step of model s at the given parameters. */
MACHINES
static void OF_WIDTH(e_step)(const batch *m, ptrdiff_t s, const double *vector, const double *sigma, estep *at,
                             int with_grams) {
    const ptrdiff_t k = m->k, De = in_tiles(m->De), Dg = in_tiles(m->Dg);
    REAL *const residual = at->channels, *const weights = at->weights;
    REAL *const expert = with_grams ? weights : NULL, *const spread = with_grams ? weights + k * STRIP : NULL;
    REAL *const sums = at->sums, *const tile_sums = at->tiles;
    REAL B[coefficients(m)];
    double log_density = 0;
    OF_WIDTH(set_model)(m, vector, sigma, at, B);
    memset(sums, 0, sizeof(REAL) * k * (De + Dg) * LANES);
    if (with_grams) memset(tile_sums, 0, sizeof(REAL) * k * (tiles_of(m->De) + tiles_of(m->Dg)) * LANES);
    for (ptrdiff_t strip = 0; strip < m->strips; strip++) {
        const REAL *U = (const REAL *)m->U + strip * m->inputs * STRIP, *V = U + m->gate_at * STRIP;
        log_density += OF_WIDTH(strip_of)(m, s, strip, B, at, expert, spread);
        if (m->gate_at) {
            OF_WIDTH(all_gradients)(k, De, residual, U, sums);
            OF_WIDTH(all_gradients)(k, Dg, residual + k * STRIP, V, sums + k * De * LANES);
        } else {
            OF_WIDTH(all_gradients)(2 * k, De, residual, U, sums);
        }
        REAL *tiles = tile_sums;
        for (ptrdiff_t c = 0; with_grams && c < 2 * k; tiles += tiles_of(inputs_of(m, c++)) * LANES)
            OF_WIDTH(gram)(in_tiles(inputs_of(m, c)), weights + c * STRIP, c < k ? U : V, at->scaled, tiles);
    }
    const double total = 1.0 / m->total;
    at->log_likelihood = log_density * total + m->base[s];
    for (ptrdiff_t c = 0; c < k; c++) at->share[c] *= total, at->squares[c] *= total;
    double *slope = at->expert, *G = at->grams;
    const REAL *sum = sums, *tile = tile_sums;
    for (ptrdiff_t c = 0; c < 2 * k; sum += in_tiles(inputs_of(m, c++)) * LANES)
        for (ptrdiff_t d = 0; d < inputs_of(m, c); d++) *slope++ = total * OF_WIDTH(across)(sum + d * LANES);
    if (!with_grams) return;
    for (ptrdiff_t c = 0; c < 2 * k; c++) {
        const ptrdiff_t D = inputs_of(m, c);
        for (ptrdiff_t d = 0; d < D; d += TILE)
            for (ptrdiff_t e = 0; e <= d; e += TILE)
                for (int i = 0; i < TILE; i++)
                    for (int j = 0; j < TILE; j++, tile += LANES)
                        if (d + i < D && e + j <= d + i) G[(d + i) * D + e + j] = total * OF_WIDTH(across)(tile);
        G += D * D;
    }
}

#undef vec
#undef loaded
#undef STRIP
#undef LANES
#undef OF_WIDTH
#undef MACHINES
#undef IN_REGISTER
