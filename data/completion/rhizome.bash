# Completion of rhizome for bash: the program itself knows what fits.
_rhizome() {
  local cur words cword
  # A value after "=" is one word with its option.
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n = cur words cword
  else
    words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}
  fi
  mapfile -t COMPREPLY < <(
    "${words[0]}" __complete "${words[@]:1:cword}" 2>/dev/null)
  if [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%%=*}="}")
  fi
}
complete -o bashdefault -o default -F _rhizome rhizome
