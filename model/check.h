// Always-on invariant checks.
//
// A failed check is a defect of drasim, never a user's mistake: user mistakes are absl::Status
// values. Checks stay on in optimised builds (NDEBUG does not turn them off), so they must be
// cheap: O(1), and off the innermost loops. A failure prints the expression, file and line, then
// aborts.
#ifndef DRASIM_MODEL_CHECK_H_
#define DRASIM_MODEL_CHECK_H_

namespace drasim::internal {

// Prints "CHECK failed: EXPR at FILE:LINE" to standard error and aborts.
[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);

}  // namespace drasim::internal

#define DRASIM_CHECK(condition)                                        \
  do {                                                                 \
    if (!(condition)) [[unlikely]] {                                   \
      ::drasim::internal::CheckFailed(#condition, __FILE__, __LINE__); \
    }                                                                  \
  } while (false)

// Aborts at a place that only a defect can reach; `why` is a string literal.
#define DRASIM_UNREACHABLE(why) ::drasim::internal::CheckFailed(why, __FILE__, __LINE__)

#define DRASIM_CHECK_EQ(a, b) DRASIM_CHECK((a) == (b))
#define DRASIM_CHECK_NE(a, b) DRASIM_CHECK((a) != (b))
#define DRASIM_CHECK_LT(a, b) DRASIM_CHECK((a) < (b))
#define DRASIM_CHECK_LE(a, b) DRASIM_CHECK((a) <= (b))
#define DRASIM_CHECK_GT(a, b) DRASIM_CHECK((a) > (b))
#define DRASIM_CHECK_GE(a, b) DRASIM_CHECK((a) >= (b))

#endif  // DRASIM_MODEL_CHECK_H_
