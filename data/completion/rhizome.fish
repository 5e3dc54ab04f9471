# Completion of rhizome for fish: the program itself knows what fits.
function __rhizome_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c rhizome -a '(__rhizome_complete)'
