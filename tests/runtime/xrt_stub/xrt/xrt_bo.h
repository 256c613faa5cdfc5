#include "xrt_csim.h"
