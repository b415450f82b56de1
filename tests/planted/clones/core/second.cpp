int second(int number) {
  int sum = 0;

  for (int i = 0; i<number; ++i) {
    if (i%2 == 0) {
      sum += i;
    }
  }
  return sum + 1;
}
