#!/usr/bin/env fish
# What fish offers at the end of a line: fish_completion.fish BINARY FOLDER. The binary is first of the path as headroom.
set -gx PATH (dirname $argv[1]) $PATH
source $argv[2]/vendor_completions.d/headroom.fish
set -g failures 0

function offers  # LINE EXPECTED...
    set -l got (complete -C $argv[1] | string replace -r '\t.*' '' | sort)
    set -l expected (printf '%s\n' $argv[2..-1] | sort)
    if test "$got" != "$expected"
        printf 'line     %s\noffers   %s\nexpected %s\n' "$argv[1]" "$got" "$expected"
        set -g failures (math $failures + 1)
    end
end

offers 'headroom pl' plan
offers 'headroom plan --form' --format
offers 'headroom plan --format ' text json html csv
offers 'headroom plan --gpu h200' h200-nvl-141gb h200-sxm-141gb
offers 'headroom catalog list p' partitions prices
offers 'headroom catalog show dgx-superpod-h' dgx-superpod-h100
offers 'headroom catalog import --file x --out' --output
offers 'headroom op attention-t' attention-training
test $failures -eq 0
