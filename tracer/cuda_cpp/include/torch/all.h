#include "tilescope.h"
