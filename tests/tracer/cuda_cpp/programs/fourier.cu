// Fourier transforms, compared with their definition: of a real image and back, and of lines that lie interleaved.
#include <cstdio>
#include <cufft.h>

static double2 turn(double2 value, double angle) {
  return make_double2(value.x * cos(angle) - value.y * sin(angle), value.x * sin(angle) + value.y * cos(angle));
}

int main() {
  const int nx = 12, ny = 10, half = ny / 2 + 1;
  double *image, kept[nx * ny], forward_error = 0, round_trip_error = 0, line_error = 0;
  double2* spectrum;
  cudaMallocManaged(&image, sizeof kept);
  cudaMallocManaged(&spectrum, nx * half * sizeof(double2));
  for (int i = 0; i < nx * ny; i++) kept[i] = image[i] = sin(i * 1.7) + i % 5;
  cufftHandle forward, inverse, lines;
  cufftPlan2d(&forward, nx, ny, CUFFT_D2Z);
  cufftPlan2d(&inverse, nx, ny, CUFFT_Z2D);
  cufftExecD2Z(forward, image, spectrum);
  cudaDeviceSynchronize();
  for (int u = 0; u < nx; u++) {
    for (int v = 0; v < half; v++) {
      double2 sum = {0, 0};
      for (int i = 0; i < nx * ny; i++) {
        double2 term = turn(make_double2(kept[i], 0), -2 * M_PI * (u * (i / ny) / (double)nx + v * (i % ny) / (double)ny));
        sum.x += term.x, sum.y += term.y;
      }
      forward_error = fmax(forward_error, hypot(sum.x - spectrum[u * half + v].x, sum.y - spectrum[u * half + v].y));
    }
  }
  cufftExecZ2D(inverse, spectrum, image);
  cudaDeviceSynchronize();
  for (int i = 0; i < nx * ny; i++) round_trip_error = fmax(round_trip_error, fabs(image[i] / (nx * ny) - kept[i]));

  int length = 7;
  float2 *numbers, before[21];
  cudaMallocManaged(&numbers, sizeof before);
  for (int i = 0; i < 21; i++) before[i] = numbers[i] = make_float2(i % 4, i % 3);
  cufftPlanMany(&lines, 1, &length, &length, 3, 1, &length, 3, 1, CUFFT_C2C, 3);
  cufftExecC2C(lines, numbers, numbers, CUFFT_INVERSE);
  cudaDeviceSynchronize();
  for (int line = 0; line < 3; line++) {
    for (int u = 0; u < 7; u++) {
      double2 sum = {0, 0};
      for (int i = 0; i < 7; i++) {
        double2 term = turn(make_double2(before[i * 3 + line].x, before[i * 3 + line].y), 2 * M_PI * u * i / 7);
        sum.x += term.x, sum.y += term.y;
      }
      line_error = fmax(line_error, hypot(sum.x - numbers[u * 3 + line].x, sum.y - numbers[u * 3 + line].y));
    }
  }
  printf("%d %d %d\n", forward_error < 1e-10, round_trip_error < 1e-12, line_error < 1e-4);
  printf("%d %d\n", cufftExecC2C(forward, nullptr, nullptr, 1), cufftDestroy(99));
}
