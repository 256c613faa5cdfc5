#define N 64
void centre(const float *x, float *y);
