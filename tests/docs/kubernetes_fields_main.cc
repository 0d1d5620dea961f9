// Writes docs/kubernetes_fields.md: drasim_kubernetes_fields DOCS. `make docs` runs it.
#include <cstdio>
#include <fstream>
#include <ios>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/docs/kubernetes_fields.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DOCS\n", argv[0]);
    return 2;
  }
  const std::string path = absl::StrCat(argv[1], "/kubernetes_fields.md");
  std::ofstream out(path, std::ios::binary);
  out << drasim::KubeFieldsPage(drasim::KubernetesFields());
  out.close();
  if (!out) {
    std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
    return 1;
  }
  std::printf("%s\n", path.c_str());
  return 0;
}
