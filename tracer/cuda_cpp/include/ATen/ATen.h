#include <torch/tilescope.h>
