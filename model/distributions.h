// Probability distributions whose samples are the same bits on every compiler and machine.
//
// The C++ library leaves the algorithms of its distributions open, and libm's exp and log differ in
// the last bit between versions and processors. Here a sample uses only integer draws, IEEE + - * /
// and sqrt, which are exactly specified, so a generated workload is part of a run's fingerprint.
// (Compile with -ffp-contract=off.)
#ifndef DRASIM_MODEL_DISTRIBUTIONS_H_
#define DRASIM_MODEL_DISTRIBUTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/random.h"

namespace drasim {

// The natural logarithm. REQUIRES: x > 0 and finite (subnormal numbers too). DetLog(1) is exactly
// 0. Relative error below 5e-16 (3.2e-16 was the largest over 60,000 points of the whole range and
// near 1). Method: x = m 2^e with m in [sqrt(1/2), sqrt(2)]; log m = 2 artanh((m-1)/(m+1)) by its
// power series.
double DetLog(double x);

// The exponential function. REQUIRES: x is not NaN. DetExp(0) is exactly 1. Above 709.78 it is
// +infinity, below -745.13 it is 0. Relative error below 3e-16 (1.5e-16 was the largest over 40,000
// points) where the result is a normal number; a subnormal result is off by at most one unit of its
// last place. Method: x = n ln 2 + r with |r| <= ln(2)/2; exp r by its power series; scaled by 2^n.
double DetExp(double x);

// A distribution of a double, as an ordinary value: copy it, compare it, print it, parse it.
//
// Text form (spaces and the order of parameters are free):
//   constant(5)
//   discrete(1:50,2:30,8:20)        value:weight; weights are integers, the chance is weight / sum
//   exponential(mean=30)            mean > 0
//   lognormal(median=600,sigma=2)   median > 0, sigma >= 0 (of the natural logarithm)
//   normal(mean=10,stddev=3)        stddev >= 0; samples can be negative
//   pareto(min=2,alpha=1.5)         min > 0, alpha > 0
//   uniform(low=1,high=5)           low <= high
//   weibull(scale=100,shape=0.7)    scale > 0, shape > 0
//
// The user chooses the unit: a distribution over seconds yields seconds.
class Distribution {
 public:
  enum class Kind {
    kConstant,
    kDiscrete,
    kExponential,
    kLogNormal,
    kNormal,
    kPareto,
    kUniform,
    kWeibull,
  };

  // One possible value of a discrete distribution. Weight 0 is allowed and never drawn.
  struct Outcome {
    double value = 0;
    uint64_t weight = 0;

    bool operator==(const Outcome&) const = default;
  };

  // Reads the text form. InvalidArgument quotes the text and names the fault: bad syntax, an
  // unknown name or parameter (with the nearest known one), a missing or repeated parameter, a bad
  // number.
  static absl::StatusOr<Distribution> Parse(absl::string_view text);

  // InvalidArgument when a parameter is outside the range given above or not finite, or, for
  // Discrete, when all weights are 0 or their sum leaves 64 bits.
  static absl::StatusOr<Distribution> Constant(double value);
  static absl::StatusOr<Distribution> Discrete(absl::Span<const Outcome> outcomes);
  static absl::StatusOr<Distribution> Exponential(double mean);
  static absl::StatusOr<Distribution> LogNormal(double median, double sigma);
  static absl::StatusOr<Distribution> Normal(double mean, double stddev);
  static absl::StatusOr<Distribution> Pareto(double min, double alpha);
  static absl::StatusOr<Distribution> Uniform(double low, double high);
  static absl::StatusOr<Distribution> Weibull(double scale, double shape);

  // Constant 0.
  Distribution() = default;

  Kind kind() const { return kind_; }

  // One sample; always finite (one that would overflow is the largest double). Uniform gives low <=
  // x <= high (high itself only by rounding), Exponential and Weibull x >= 0, Pareto x >= min.
  // Draws: none for Constant; one for Uniform, Exponential, Pareto, Weibull; one call of
  // Below for Discrete; two per attempt, on average 2.55, for Normal and LogNormal. O(1); Discrete
  // O(log outcomes). No allocation.
  double Sample(Random& random) const;

  // The expectation; +infinity for Pareto with alpha <= 1, and on overflow. It uses the same
  // exactly specified operations as the samples. Relative error below 1e-13 for Weibull with shape
  // >= 0.05, a few 1e-16 otherwise. O(1); Discrete O(outcomes).
  double Mean() const;

  // The text form; Parse(ToString()) gives an equal distribution.
  std::string ToString() const;

  bool operator==(const Distribution&) const = default;

 private:
  Distribution(Kind kind, double first, double second)
      : kind_(kind), first_(first), second_(second) {}

  // For every kind but Discrete. Checks the parameters, given in the order of the text form.
  static absl::StatusOr<Distribution> Make(Kind kind, double first, double second);
  static absl::StatusOr<Distribution> ParseUnquoted(absl::string_view text);
  static absl::StatusOr<Distribution> ParseDiscrete(absl::string_view arguments);
  static absl::StatusOr<Distribution> ParseParameters(Kind kind, absl::string_view arguments);

  double SampleUnbounded(Random& random) const;

  Kind kind_ = Kind::kConstant;
  double first_ = 0;
  double second_ = 0;
  std::vector<Outcome> outcomes_;  // Discrete only
  // Discrete only: for each outcome the sum of the weights up to and including its own.
  std::vector<uint64_t> cumulative_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_DISTRIBUTIONS_H_
