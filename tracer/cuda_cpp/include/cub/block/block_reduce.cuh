#include <cub/tilescope.h>
