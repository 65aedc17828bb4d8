#pragma once  // tilescope/cuda.h has the runtime
#include "tilescope/driver.h"
