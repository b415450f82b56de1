int first(int number) {
  int sum = 0;  // a comment is no line
  for (int i = 0; i < number; ++i) {
    if (i % 2 == 0) {
      sum += i;
    }
  }
  return sum;
}
