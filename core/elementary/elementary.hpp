// SPDX-License-Identifier: Apache-2.0
// exp, log, pow and the like with the same bits on every machine. C libraries round them differently in the last digit,
// glibc even by the processor (with and without fused multiply-adds), and WebAssembly has another library again. Linked
// into a program, these stand in place of the C library's: std::exp of that program is the one here. They are hidden in
// it, so that shared libraries keep their own. No errno, no floating-point exceptions. Errors are in units of the last
// digit (ulp), as tests/core/elementary_test.cpp measures them.
#pragma once

#define HEADROOM_STANDS_FOR(name) noexcept __asm__(name) __attribute__((visibility("hidden")))

namespace headroom::elementary {

double exponential(double x) HEADROOM_STANDS_FOR("exp");    ///< e^x, 0.51 ulp; 0.75 where the result is subnormal
double power_of_two(double x) HEADROOM_STANDS_FOR("exp2");  ///< 2^x, 0.51 ulp, exact for whole x
double exponential_less_one(double x) HEADROOM_STANDS_FOR("expm1");  ///< e^x - 1, 0.7 ulp
double logarithm(double x) HEADROOM_STANDS_FOR("log");               ///< 0.51 ulp
double logarithm_of_two(double x) HEADROOM_STANDS_FOR("log2");       ///< 0.51 ulp, exact for powers of two
double logarithm_of_ten(double x) HEADROOM_STANDS_FOR("log10");      ///< 0.51 ulp, exact for powers of ten
double logarithm_of_more(double x) HEADROOM_STANDS_FOR("log1p");     ///< log(1 + x), 0.7 ulp
double power(double x, double y) HEADROOM_STANDS_FOR("pow");         ///< x^y, 0.52 ulp
double cube_root(double x) HEADROOM_STANDS_FOR("cbrt");              ///< 0.51 ulp, exact for cubes
double hypotenuse(double a, double b) HEADROOM_STANDS_FOR("hypot");  ///< 0.56 ulp
double sine(double x) HEADROOM_STANDS_FOR("sin");                    ///< 1 ulp, |x| below 2^30
double cosine(double x) HEADROOM_STANDS_FOR("cos");                  ///< 1 ulp, |x| below 2^30
void sine_and_cosine(double x, double* s, double* c) HEADROOM_STANDS_FOR("sincos");  ///< to which compilers join both
double logarithm_of_gamma(double x) HEADROOM_STANDS_FOR("lgamma");  ///< 8 ulp for x > 0; signgam stays as it is
double gamma(double x) HEADROOM_STANDS_FOR("tgamma");               ///< 4 ulp for x > 0, exact for whole x up to 23
double error_complement(double x) HEADROOM_STANDS_FOR("erfc");      ///< 8 ulp

}  // namespace headroom::elementary
