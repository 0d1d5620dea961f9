# Writes OUT, a C++ file whose functions (declared in HEADER) return the texts of files. PAIRS is Function=path;...
# Raw string literals are limited to 64 KiB by some compilers, so the text is cut into pieces.
set(code "#include \"${HEADER}\"\n\n#include <string>\n\nnamespace drasim {\n")
foreach(pair IN LISTS PAIRS)
  string(REGEX MATCH "^([^=]+)=(.+)$" _ "${pair}")
  set(function ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" hex HEX)
  string(LENGTH "${hex}" length)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  math(EXPR size "${length} / 2")
  string(APPEND code "\nabsl::string_view ${function}() {\n  static constexpr unsigned char kBytes[] = {${bytes}0};\n"
         "  return absl::string_view(reinterpret_cast<const char*>(kBytes), ${size});\n}\n")
endforeach()
string(APPEND code "\n}  // namespace drasim\n")
file(WRITE "${OUT}" "${code}")
