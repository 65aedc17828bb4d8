// NVIDIA's samples include it with their other helpers.
#pragma once
#include <exception>
#include <stdexcept>
