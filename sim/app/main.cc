// drasim, without policies from elsewhere.

#include "sim/app/drasim_main.h"

int main(int argc, char** argv) { return drasim::Main(argc, argv); }
