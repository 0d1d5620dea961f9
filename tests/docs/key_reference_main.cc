// Writes the key reference: drasim_key_reference SCHEMAS DOCS, where SCHEMAS is a descriptor set of
// protoc and DOCS the folder of the pages. `make docs` runs it.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/docs/key_reference.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s SCHEMAS DOCS\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string schemas((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  for (const drasim::ReferencePage& page : drasim::ReferencePages()) {
    const absl::StatusOr<drasim::KeyReference> reference =
        drasim::ReadKeyReference(schemas, page.message);
    if (!reference.ok()) {
      std::fprintf(stderr, "%s\n", reference.status().ToString().c_str());
      return 1;
    }
    const std::string path = absl::StrCat(argv[2], "/", page.file);
    std::ofstream out(path, std::ios::binary);
    out << drasim::ReferencePageText(*reference, page);
    out.close();
    if (!out) {
      std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
      return 1;
    }
    std::printf("%s\n", path.c_str());
  }
  return 0;
}
