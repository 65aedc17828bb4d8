// Timers of NVIDIA's samples, in milliseconds of this machine.
#pragma once
#include <chrono>
class StopWatchInterface {
 public:
  void start() { begin_ = std::chrono::steady_clock::now(), is_running_ = true; }
  void stop() { last_ = running(), total_ += last_, sessions_++, is_running_ = false; }
  void reset() { last_ = total_ = 0, sessions_ = 0, begin_ = std::chrono::steady_clock::now(); }
  float getTime() { return is_running_ ? running() : total_; }
  float getAverageTime() { return sessions_ ? total_ / sessions_ : 0; }

 private:
  float running() const { return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin_).count(); }
  std::chrono::steady_clock::time_point begin_;
  float last_ = 0, total_ = 0;
  int sessions_ = 0;
  bool is_running_ = false;
};
inline bool sdkCreateTimer(StopWatchInterface** timer) { *timer = new StopWatchInterface(); return true; }
inline bool sdkDeleteTimer(StopWatchInterface** timer) { delete *timer; *timer = nullptr; return true; }
inline bool sdkStartTimer(StopWatchInterface** timer) { (*timer)->start(); return true; }
inline bool sdkStopTimer(StopWatchInterface** timer) { (*timer)->stop(); return true; }
inline bool sdkResetTimer(StopWatchInterface** timer) { (*timer)->reset(); return true; }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return (*timer)->getAverageTime(); }
