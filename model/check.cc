#include "model/check.h"

#include <cstdio>
#include <cstdlib>

namespace drasim::internal {

void CheckFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "CHECK failed: %s at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace drasim::internal
