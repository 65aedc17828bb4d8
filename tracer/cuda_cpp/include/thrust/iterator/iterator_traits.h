#include <thrust/tilescope.h>
