#!/usr/bin/env zsh
# What zsh offers at the end of a line: zsh_completion.zsh BINARY FOLDER. A second zsh on a pseudo-terminal is typed to:
# its completion widgets answer nobody else.
zmodload zsh/zpty || { print "Skipped: no zsh/zpty"; exit 0 }
binary=${1:h} folder=$2 failures=0
cd $(mktemp -d) && touch a.toml rows.csv

zpty -b shell zsh -f -i
say() { zpty -w shell "$1" }
say "PS1= PS2= path=($binary \$path) fpath=($folder/site-functions \$fpath)"
say "autoload -Uz compinit && compinit -u -d $PWD/dump && zstyle ':completion:*' list-colors ''"
say "bindkey '^X' list-choices; LISTMAX=0; COLUMNS=200; unsetopt beep zle_bracketed_paste; print REA''DY"

# What is on the screen, without its escape sequences, until it holds TEXT or ten seconds are over.
await() {  # TEXT
  local chunk screen=
  repeat 200; do
    while zpty -r -t shell chunk; do screen+=$chunk; done
    screen=${screen//$'\e'\[[0-9;]#[a-zA-Z]/}
    [[ $screen == *$1* ]] && return 0
    sleep 0.05
  done
  print -r -- "the screen is ${(V)screen}"
  return 1
}
setopt extended_glob
await READY || exit 1

completes() {  # LINE EXPECTED: after LINE and a tab the line begins with EXPECTED, which is longer
  zpty -w -n shell $'\C-u'"$1"$'\t'
  await "$2" || { print -r -- "line '$1' does not become '$2'"; ((++failures)) }
}
completes 'headroom pla' 'headroom plan'
completes 'headroom plan --form' 'headroom plan --format'
completes 'headroom plan --format j' 'headroom plan --format json'
completes 'headroom plan --gpu h200-s' 'headroom plan --gpu h200-sxm-141gb'
completes 'headroom plan a' 'headroom plan a.toml'
completes 'headroom catalog list pri' 'headroom catalog list prices'
completes 'headroom catalog show dgx-superpod-h' 'headroom catalog show dgx-superpod-h100'
completes 'headroom op attention-tr' 'headroom op attention-training'
zpty -d shell
((failures == 0))
