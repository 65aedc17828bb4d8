#pragma once  // tilescope/cuda.h has its contents
