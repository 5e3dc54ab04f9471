/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * The inverse Helmholtz operator, p = 11, in turns: our object, our object from
 * the formula as written, and the factorized loops as a programmer writes them.
 * Prints nanoseconds an application, the best of several rounds each. */
#include "helmholtz.h"
#include "naive.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { P = 11, P2 = P * P, P3 = P * P * P, ELEMENTS = 64, ROUNDS = 9 };

/* out[i][jk] = sum of S[i][l] in[l][jk] */
static void first(const double *restrict S, const double *restrict in,
                  double *restrict out) {
  for (int i = 0; i < P; ++i) {
    double sums[P2] = {0};
    for (int l = 0; l < P; ++l)
      for (int jk = 0; jk < P2; ++jk)
        sums[jk] += S[i * P + l] * in[l * P2 + jk];
    memcpy(out + i * P2, sums, sizeof sums);
  }
}

/* out[i][j][k] = sum of S[j][m] in[i][m][k] */
static void second(const double *restrict S, const double *restrict in,
                   double *restrict out) {
  for (int i = 0; i < P; ++i)
    for (int j = 0; j < P; ++j) {
      double sums[P] = {0};
      for (int m = 0; m < P; ++m)
        for (int k = 0; k < P; ++k)
          sums[k] += S[j * P + m] * in[i * P2 + m * P + k];
      memcpy(out + i * P2 + j * P, sums, sizeof sums);
    }
}

/* out[ij][k] = sum of T[n][k] in[ij][n], T being S transposed */
static void third(const double *restrict T, const double *restrict in,
                  double *restrict out) {
  for (int ij = 0; ij < P2; ++ij) {
    double sums[P] = {0};
    for (int n = 0; n < P; ++n)
      for (int k = 0; k < P; ++k)
        sums[k] += T[n * P + k] * in[ij * P + n];
    memcpy(out + ij * P, sums, sizeof sums);
  }
}

__attribute__((noinline)) static void by_hand(const double *restrict S,
                                              const double *restrict D,
                                              const double *restrict u,
                                              double *restrict v) {
  double T[P2], a[P3], b[P3];
  for (int i = 0; i < P; ++i)
    for (int j = 0; j < P; ++j)
      T[j * P + i] = S[i * P + j];
  first(S, u, a);
  second(S, a, b);
  third(T, b, a);
  for (int i = 0; i < P3; ++i)
    a[i] *= D[i];
  first(T, a, b);
  second(T, b, a);
  third(S, a, v);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *S, *D, *u, *v, *expected;
static rhz_array arrays[4];

static void run_ours(int n) { helmholtz_run(n, 1, arrays); }
static void run_naive(int n) { naive_run(n, 1, arrays); }
static void run_hand(int n) {
  for (int e = 0; e < n; ++e)
    by_hand(S, D + e * P3, u + e * P3, v + e * P3);
}

/* Nanoseconds an application over at least `least` seconds. */
static double measure(void (*run)(int), int n, double least) {
  double start = now(), end;
  long count = 0;
  do {
    run(n);
    count += n;
    end = now();
  } while (end - start < least);
  return (end - start) / (double)count * 1e9;
}

int main(void) {
  S = aligned_alloc(64, 1024);
  D = malloc(sizeof(double) * P3 * ELEMENTS);
  u = malloc(sizeof(double) * P3 * ELEMENTS);
  v = malloc(sizeof(double) * P3 * ELEMENTS);
  expected = malloc(sizeof(double) * P3 * ELEMENTS);
  for (int i = 0; i < P2; ++i)
    S[i] = sin(i + 1.0);
  for (int i = 0; i < P3 * ELEMENTS; ++i)
    D[i] = cos(i * 3.0), u[i] = sin(i * 5.0);
  double *data[] = {S, D, u, v};
  for (int a = 0; a < 4; ++a) {
    rhz_array one = {data[a], a ? P3 : 0, {a ? P2 : P, a ? P : 1, 1}};
    arrays[a] = one;
  }
  run_hand(ELEMENTS);
  memcpy(expected, v, sizeof(double) * P3 * ELEMENTS);
  run_ours(ELEMENTS);
  for (int i = 0; i < P3 * ELEMENTS; ++i)
    if (!(fabs(v[i] - expected[i]) <= 1e-10)) {
      printf("the results differ at %d: %g and %g\n", i, v[i], expected[i]);
      return 1;
    }
  double ours = 1e30, naive = 1e30, hand = 1e30, one;
  for (int round = 0; round < ROUNDS; ++round) {
    if ((one = measure(run_ours, ELEMENTS, 0.1)) < ours)
      ours = one;
    if ((one = measure(run_hand, ELEMENTS, 0.1)) < hand)
      hand = one;
    if (round < 3 && (one = measure(run_naive, 1, 0.1)) < naive)
      naive = one;
  }
  printf("{\"ours_ns\": %.1f, \"by_hand_ns\": %.1f, \"naive_ns\": %.1f}\n", ours,
         hand, naive);
  return 0;
}
