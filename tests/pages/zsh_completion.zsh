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
say "bindkey '^X' list-choices; LISTMAX=0; COLUMNS=200; unsetopt beep zle_bracketed_paste; print READY"
# The screen up to a mark.
await() {
  local text chunk
  repeat 200; do
    while zpty -r -t shell chunk; do text+=$chunk; done
    [[ $text == *$1* ]] && { print -r -- $text; return }
    sleep 0.05
  done
  print -r -- $text
}
await $'READY\r' > /dev/null

# offers LINE EXPECTED...: the line is typed with a tab, and then printed instead of run.
completes() {  # LINE EXPECTED-LINE
  local got
  zpty -w -n shell "$1"$'\t'
  sleep 1
  zpty -w -n shell $'\C-a'": '<"$'\C-e'">'; print DO''NE"$'\n'
  got=$(await $'DONE\r')
  got=${got##*\'<} got=${got%%>\'*}
  if [[ $got != *"$2"* ]]; then
    print -r -- "line     $1"$'\n'"becomes  ${(V)got}"$'\n'"expected $2"
    ((++failures))
  fi
}
completes 'headroom pla' 'headroom plan '
completes 'headroom plan --form' 'headroom plan --format='
completes 'headroom plan --format j' 'headroom plan --format json '
completes 'headroom plan --gpu h200-s' 'headroom plan --gpu h200-sxm-141gb '
completes 'headroom plan a' 'headroom plan a.toml '
completes 'headroom catalog list pri' 'headroom catalog list prices '
completes 'headroom catalog show dgx-superpod-h' 'headroom catalog show dgx-superpod-h100 '
completes 'headroom op attention-tr' 'headroom op attention-training '
zpty -d shell
((failures == 0))
