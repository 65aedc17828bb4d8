#pragma once
#include "tilescope/textures.h"
