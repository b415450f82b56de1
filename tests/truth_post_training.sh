#!/bin/bash
# truth_post_training.sh BINARY TRUTH: steps of post-training and their phases, each source left out of the fit, lie within
# the bars of docs/post-training.md: mean and median error by figure, rows within their intervals, and the share of
# rows that are answered.
binary=$1 truth=$2
rows=$truth/rl_steps.csv
if ! [ -f "$rows" ]; then
  echo "Skipped: no measured rows at $truth"
  exit 0
fi
said=$("$binary" fit "$rows" --stack post 2>/dev/null) || exit 1
status=0
# figure, most of the mean and of the median, in %
while read -r figure most_mean most_median; do
  line=$(grep -m1 -E "^ *$figure +[0-9]+ " <<<"$said")
  read -r mean median < <(sed -E 's/.* ([0-9.]+) \/ ([0-9.]+) *$/\1 \2/' <<<"$line")
  if ! awk -v a="$mean" -v b="$median" -v x="$most_mean" -v y="$most_median" \
    'BEGIN { exit !(a > 0 && a + 0 <= x + 0 && b + 0 <= y + 0) }'; then
    echo "$figure, source left out: mean $mean %, median $median %; at most $most_mean and $most_median"
    status=1
  fi
done <<'BARS'
step 23 18
rollout 22 17
passes 18 15
train 26 19
sync 32 23
rate 30 17
idle 5 5
BARS
# An interval that other publications made holds 80 % of a figure's rows: 75 to 90 of them, of waits, whose rows are five
# of two publications, at least 75.
while read -r figure least most; do
  inside=$(sed -nE "s/^ *$figure +[0-9.]+ +[0-9]+ +([0-9.]+) *$/\1/p" <<<"$said")
  if ! awk -v a="${inside:-0}" -v x="$least" -v y="$most" 'BEGIN { exit !(a + 0 >= x && a + 0 <= y) }'; then
    echo "$figure: intervals of the other publications hold ${inside:-none} % of the rows; $least to $most"
    status=1
  fi
done <<'HELD'
step 75 90
rollout 75 90
passes 75 90
train 75 90
sync 75 90
idle 75 100
HELD
read -r answered asked < <(sed -nE 's/^([0-9]+) of ([0-9]+) rows without a mark are answered.*/\1 \2/p' <<<"$said")
if ! awk -v a="$answered" -v b="$asked" 'BEGIN { exit !(b > 0 && a >= 0.85 * b) }'; then
  echo "$answered of $asked rows are answered"
  status=1
fi
exit $status
