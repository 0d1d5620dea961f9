// An open C stream that closes itself.
#ifndef DRASIM_TRACES_FILE_PTR_H_
#define DRASIM_TRACES_FILE_PTR_H_

#include <cstdio>
#include <memory>

namespace drasim {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, FileCloser>;

}  // namespace drasim

#endif  // DRASIM_TRACES_FILE_PTR_H_
