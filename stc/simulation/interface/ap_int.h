// The vendor's own release of arbitrary precision integers is both what is documented (UG1399 2023.2, "C++ Arbitrary Precision Types")
// and what runs: see ../include.
#include "../include/ap_int.h"
