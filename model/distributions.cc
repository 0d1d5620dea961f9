#include "model/distributions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/check.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"

namespace drasim {
namespace {

using Kind = Distribution::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

// ln 2 in two parts. The first has 32 bits, so that its product with any binary exponent (11 bits)
// is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kOneOverLn2 = 0x1.71547652b82fep+0;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;

constexpr int kFractionBits = 52;
constexpr int kExponentBias = 1023;
constexpr uint64_t kFractionMask = (uint64_t{1} << kFractionBits) - 1;

// 2^exponent for a normal result: -1022 <= exponent <= 1023.
double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kExponentBias) << kFractionBits);
}

// coefficients[0] + coefficients[1] x + ..., by Horner's rule; the order of operations is part of
// the result.
template <size_t N>
double Polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = coefficients[N - 1];
  for (size_t i = N - 1; i > 0; --i) sum = sum * x + coefficients[i - 1];
  return sum;
}

// 1/3, 1/5, ... 1/23: artanh(s) = s + s^3/3 + s^5/5 + ... For |s| <= 3 - sqrt(8) the first omitted
// term is s^25/25, below 2e-20 of the sum.
constexpr std::array<double, 11> MakeArtanhSeries() {
  std::array<double, 11> series{};
  for (size_t i = 0; i < series.size(); ++i) series[i] = 1.0 / static_cast<double>(2 * i + 3);
  return series;
}

// 1/2!, 1/3!, ... 1/13!: for |r| <= ln(2)/2 the first omitted term, r^14/14!, is below 5e-18.
constexpr std::array<double, 12> MakeExpSeries() {
  std::array<double, 12> series{};
  double factorial = 1.0;
  for (size_t i = 0; i < series.size(); ++i) {
    factorial *= static_cast<double>(i + 2);
    series[i] = 1.0 / factorial;
  }
  return series;
}

constexpr std::array<double, 11> kArtanhSeries = MakeArtanhSeries();
constexpr std::array<double, 12> kExpSeries = MakeExpSeries();

// The gamma function for z >= 1, by Stirling's series, after gamma(z+1) = z * gamma(z) has moved z
// to 16 or more.
double Gamma(double z) {
  if (z > 172.0) return kInfinity;  // gamma(171.62) is about the last one in the range of a double
  constexpr double kHalfLogTwoPi = 0x1.d67f1c864beb5p-1;
  // B(2k) / (2k (2k-1)) for the Bernoulli numbers B. The first omitted term is below 2e-16.
  constexpr std::array<double, 5> kStirling = {
      {1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0}};
  double product = 1.0;
  while (z < 16.0) {
    product *= z;
    z += 1.0;
  }
  const double inverse = 1.0 / z;
  const double correction = inverse * Polynomial(kStirling, inverse * inverse);
  const double log_gamma = (z - 0.5) * DetLog(z) - z + kHalfLogTwoPi + correction;
  return DetExp(log_gamma) / product;
}

// An exponential sample of mean 1, from 0 to 53 ln 2. The difference from 1 is exact and never 0.
double SampleUnitExponential(Random& random) {
  // "0 - x" and not "-x": the log of 1 must give plus zero.
  return 0.0 - DetLog(1.0 - random.Unit());
}

// A normal sample of mean 0 and standard deviation 1, by Marsaglia's polar method. The method
// yields two samples and the second is discarded: the distribution has no state, and a checkpoint
// needs only the stream.
double SampleUnitNormal(Random& random) {
  while (true) {
    const double x = 2.0 * random.Unit() - 1.0;
    const double y = 2.0 * random.Unit() - 1.0;
    const double square = x * x + y * y;
    if (square > 0.0 && square < 1.0) return x * std::sqrt(-2.0 * DetLog(square) / square);
  }
}

enum class Bound { kAny, kNotNegative, kPositive };

struct ParameterInfo {
  const char* name;
  Bound bound;
};

struct KindInfo {
  Kind kind;
  const char* name;
  size_t parameter_count;
  ParameterInfo parameters[2];
};

constexpr KindInfo kKinds[] = {
    {Kind::kConstant, "constant", 1, {{"value", Bound::kAny}}},
    {Kind::kDiscrete, "discrete", 0, {}},
    {Kind::kExponential, "exponential", 1, {{"mean", Bound::kPositive}}},
    {Kind::kLogNormal,
     "lognormal",
     2,
     {{"median", Bound::kPositive}, {"sigma", Bound::kNotNegative}}},
    {Kind::kNormal, "normal", 2, {{"mean", Bound::kAny}, {"stddev", Bound::kNotNegative}}},
    {Kind::kPareto, "pareto", 2, {{"min", Bound::kPositive}, {"alpha", Bound::kPositive}}},
    {Kind::kUniform, "uniform", 2, {{"low", Bound::kAny}, {"high", Bound::kAny}}},
    {Kind::kWeibull, "weibull", 2, {{"scale", Bound::kPositive}, {"shape", Bound::kPositive}}},
};

constexpr bool TableFollowsEnum() {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (static_cast<size_t>(kKinds[i].kind) != i) return false;
  }
  return true;
}
static_assert(TableFollowsEnum(), "kKinds is indexed by Kind");

const KindInfo& InfoOf(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

// Whole numbers without exponent, others in the shortest form that reads back as the same double.
std::string NumberText(double value) {
  if (value > -1e15 && value < 1e15) {
    const auto whole = static_cast<int64_t>(value);
    if (static_cast<double>(whole) == value) return absl::StrCat(whole);
  }
  return DoubleText(value);
}

bool ParseNumber(absl::string_view text, double* out) {
  return absl::SimpleAtod(text, out) && std::isfinite(*out);
}

absl::Status UnknownKind(absl::string_view name) {
  std::vector<std::string> known;
  for (const KindInfo& info : kKinds) known.emplace_back(info.name);
  return absl::InvalidArgumentError(absl::StrCat("unknown name '", name, "'", Suggest(name, known),
                                                 "; known: ", absl::StrJoin(known, ", ")));
}

absl::Status UnknownParameter(const KindInfo& info, absl::string_view name) {
  std::vector<std::string> known;
  for (size_t i = 0; i < info.parameter_count; ++i) known.emplace_back(info.parameters[i].name);
  return absl::InvalidArgumentError(absl::StrCat("unknown parameter '", name, "'",
                                                 Suggest(name, known), "; ", info.name, " takes ",
                                                 absl::StrJoin(known, " and ")));
}

absl::Status CheckParameter(const ParameterInfo& parameter, double value) {
  const char* wanted = nullptr;
  if (!std::isfinite(value)) {
    wanted = "a finite number";
  } else if (parameter.bound == Bound::kPositive && !(value > 0)) {
    wanted = "more than 0";
  } else if (parameter.bound == Bound::kNotNegative && !(value >= 0)) {
    wanted = "at least 0";
  }
  if (wanted == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(parameter.name, " must be ", wanted, ", found ", NumberText(value)));
}

}  // namespace

double DetLog(double x) {
  DRASIM_CHECK(x > 0 && x <= kLargest);
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    // A subnormal number has no leading one from which to read the exponent.
    x *= 0x1.0p54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int>(bits >> kFractionBits) - kExponentBias;
  double m = std::bit_cast<double>((bits & kFractionMask) | std::bit_cast<uint64_t>(1.0));
  if (m > kSqrt2) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double square = s * s;
  const double log_m = 2.0 * s + 2.0 * s * square * Polynomial(kArtanhSeries, square);
  const double e = static_cast<double>(exponent);
  return e * kLn2High + (log_m + e * kLn2Low);
}

double DetExp(double x) {
  DRASIM_CHECK(!std::isnan(x));
  if (x > 709.79) return kInfinity;
  if (x < -745.14) return 0.0;
  const int n = static_cast<int>(x * kOneOverLn2 + (x < 0 ? -0.5 : 0.5));
  const double r = (x - n * kLn2High) - n * kLn2Low;
  const double exp_r = 1.0 + (r + r * r * Polynomial(kExpSeries, r));
  // Two steps, because 2^n may lie outside the range of normal numbers although the result is
  // inside.
  const int half = n / 2;
  return exp_r * PowerOfTwo(half) * PowerOfTwo(n - half);
}

absl::StatusOr<Distribution> Distribution::Make(Kind kind, double first, double second) {
  const KindInfo& info = InfoOf(kind);
  const double values[2] = {first, second};
  for (size_t i = 0; i < info.parameter_count; ++i) {
    RETURN_IF_ERROR(CheckParameter(info.parameters[i], values[i]));
  }
  if (kind == Kind::kUniform && !(first <= second && std::isfinite(second - first))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "low must be at most high, and their distance finite, found low=", NumberText(first),
        " and high=", NumberText(second)));
  }
  return Distribution(kind, first, second);
}

absl::StatusOr<Distribution> Distribution::Constant(double value) {
  return Make(Kind::kConstant, value, 0);
}
absl::StatusOr<Distribution> Distribution::Exponential(double mean) {
  return Make(Kind::kExponential, mean, 0);
}
absl::StatusOr<Distribution> Distribution::LogNormal(double median, double sigma) {
  return Make(Kind::kLogNormal, median, sigma);
}
absl::StatusOr<Distribution> Distribution::Normal(double mean, double stddev) {
  return Make(Kind::kNormal, mean, stddev);
}
absl::StatusOr<Distribution> Distribution::Pareto(double min, double alpha) {
  return Make(Kind::kPareto, min, alpha);
}
absl::StatusOr<Distribution> Distribution::Uniform(double low, double high) {
  return Make(Kind::kUniform, low, high);
}
absl::StatusOr<Distribution> Distribution::Weibull(double scale, double shape) {
  return Make(Kind::kWeibull, scale, shape);
}

absl::StatusOr<Distribution> Distribution::Discrete(absl::Span<const Outcome> outcomes) {
  Distribution result(Kind::kDiscrete, 0, 0);
  uint64_t total = 0;
  for (const Outcome& outcome : outcomes) {
    if (!std::isfinite(outcome.value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a value must be a finite number, found ", NumberText(outcome.value)));
    }
    if (outcome.weight > std::numeric_limits<uint64_t>::max() - total) {
      return absl::InvalidArgumentError("the sum of the weights does not fit into 64 bits");
    }
    total += outcome.weight;
    result.outcomes_.push_back(outcome);
    result.cumulative_.push_back(total);
  }
  if (total == 0) {
    return absl::InvalidArgumentError("at least one value needs a weight of more than 0");
  }
  return result;
}

absl::StatusOr<Distribution> Distribution::Parse(absl::string_view text) {
  absl::StatusOr<Distribution> result = ParseUnquoted(text);
  if (result.ok()) return result;
  return absl::InvalidArgumentError(
      absl::StrCat("distribution '", text, "': ", result.status().message()));
}

absl::StatusOr<Distribution> Distribution::ParseUnquoted(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const size_t open = text.find('(');
  if (open == absl::string_view::npos || text.back() != ')') {
    return absl::InvalidArgumentError(
        "expected a name with its parameters in parentheses, as in 'exponential(mean=30)'");
  }
  const absl::string_view name = absl::StripAsciiWhitespace(text.substr(0, open));
  const absl::string_view arguments =
      absl::StripAsciiWhitespace(text.substr(open + 1, text.size() - open - 2));
  for (const KindInfo& info : kKinds) {
    if (name != info.name) continue;
    if (info.kind == Kind::kDiscrete) return ParseDiscrete(arguments);
    return ParseParameters(info.kind, arguments);
  }
  return UnknownKind(name);
}

absl::StatusOr<Distribution> Distribution::ParseDiscrete(absl::string_view arguments) {
  std::vector<Outcome> outcomes;
  for (absl::string_view piece : absl::StrSplit(arguments, ',')) {
    piece = absl::StripAsciiWhitespace(piece);
    const size_t colon = piece.find(':');
    if (colon == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected value:weight, as in 'discrete(1:50,2:30)', found '", piece, "'"));
    }
    const absl::string_view value = absl::StripAsciiWhitespace(piece.substr(0, colon));
    const absl::string_view weight = absl::StripAsciiWhitespace(piece.substr(colon + 1));
    Outcome outcome;
    if (!ParseNumber(value, &outcome.value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the value '", value, "' is not a finite number"));
    }
    if (!absl::SimpleAtoi(weight, &outcome.weight)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the weight '", weight, "' is not a whole number from 0 to 2^64-1"));
    }
    outcomes.push_back(outcome);
  }
  return Discrete(outcomes);
}

absl::StatusOr<Distribution> Distribution::ParseParameters(Kind kind, absl::string_view arguments) {
  const KindInfo& info = InfoOf(kind);
  double values[2] = {0, 0};
  bool given[2] = {false, false};
  std::vector<absl::string_view> pieces = absl::StrSplit(arguments, ',');
  if (arguments.empty()) pieces.clear();
  for (absl::string_view piece : pieces) {
    piece = absl::StripAsciiWhitespace(piece);
    const size_t equals = piece.find('=');
    absl::string_view name = absl::StripAsciiWhitespace(piece.substr(0, equals));
    absl::string_view number = name;
    if (equals != absl::string_view::npos) {
      number = absl::StripAsciiWhitespace(piece.substr(equals + 1));
    } else if (kind == Kind::kConstant) {
      name = info.parameters[0].name;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("expected parameter=number, found '", piece, "'"));
    }
    size_t index = 0;
    while (index < info.parameter_count && name != info.parameters[index].name) ++index;
    if (index == info.parameter_count) return UnknownParameter(info, name);
    if (given[index]) {
      return absl::InvalidArgumentError(absl::StrCat("parameter '", name, "' is given twice"));
    }
    given[index] = true;
    if (!ParseNumber(number, &values[index])) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter '", name, "' is '", number, "', which is not a finite number"));
    }
  }
  for (size_t i = 0; i < info.parameter_count; ++i) {
    if (given[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("missing parameter '", info.parameters[i].name, "'"));
  }
  return Make(kind, values[0], values[1]);
}

double Distribution::Sample(Random& random) const {
  return std::clamp(SampleUnbounded(random), -kLargest, kLargest);
}

double Distribution::SampleUnbounded(Random& random) const {
  switch (kind_) {
    case Kind::kConstant:
      return first_;
    case Kind::kDiscrete: {
      const uint64_t draw = random.Below(cumulative_.back());
      const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), draw);
      return outcomes_[static_cast<size_t>(found - cumulative_.begin())].value;
    }
    case Kind::kExponential:
      return first_ * SampleUnitExponential(random);
    case Kind::kLogNormal:
      return first_ * DetExp(second_ * SampleUnitNormal(random));
    case Kind::kNormal:
      return first_ + second_ * SampleUnitNormal(random);
    case Kind::kPareto:
      // Inverse of 1 - (min/x)^alpha.
      return first_ * DetExp(SampleUnitExponential(random) / second_);
    case Kind::kUniform:
      return std::min(first_ + (second_ - first_) * random.Unit(), second_);
    case Kind::kWeibull: {
      // Inverse of 1 - exp(-(x/scale)^shape).
      const double unit = SampleUnitExponential(random);
      return unit > 0 ? first_ * DetExp(DetLog(unit) / second_) : 0.0;
    }
  }
  DRASIM_CHECK(false);
  return 0;
}

double Distribution::Mean() const {
  switch (kind_) {
    case Kind::kConstant:
    case Kind::kExponential:
    case Kind::kNormal:
      return first_;
    case Kind::kDiscrete: {
      const double total = static_cast<double>(cumulative_.back());
      double mean = 0;
      for (const Outcome& outcome : outcomes_) {
        mean += outcome.value * (static_cast<double>(outcome.weight) / total);
      }
      return mean;
    }
    case Kind::kLogNormal:
      return first_ * DetExp(0.5 * second_ * second_);
    case Kind::kPareto:
      return second_ > 1.0 ? first_ * (second_ / (second_ - 1.0)) : kInfinity;
    case Kind::kUniform:
      return first_ + 0.5 * (second_ - first_);
    case Kind::kWeibull:
      return first_ * Gamma(1.0 + 1.0 / second_);
  }
  DRASIM_CHECK(false);
  return 0;
}

std::string Distribution::ToString() const {
  const KindInfo& info = InfoOf(kind_);
  std::vector<std::string> parts;
  if (kind_ == Kind::kConstant) {
    parts.push_back(NumberText(first_));
  } else if (kind_ == Kind::kDiscrete) {
    for (const Outcome& outcome : outcomes_) {
      parts.push_back(absl::StrCat(NumberText(outcome.value), ":", outcome.weight));
    }
  } else {
    const double values[2] = {first_, second_};
    for (size_t i = 0; i < info.parameter_count; ++i) {
      parts.push_back(absl::StrCat(info.parameters[i].name, "=", NumberText(values[i])));
    }
  }
  return absl::StrCat(info.name, "(", absl::StrJoin(parts, ","), ")");
}

}  // namespace drasim
