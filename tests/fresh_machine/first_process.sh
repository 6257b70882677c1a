# The machine's first process: DIRECTORY COMMAND... Runs the command, and looks at who is still there when it has ended.
cd "$1" 2>/dev/null || cd /
shift
"$@" 8>&- # the lock of the run
status=$?

others() {
  local folder words
  for folder in /proc/[0-9]*; do
    [ "$folder" != /proc/1 ] || continue
    mapfile -d '' -t words <"$folder/cmdline" || continue
    [ ${#words[@]} -eq 0 ] || echo "${folder#/proc/} ${words[*]}" # a zombie has none
  done 2>/dev/null
}
others >/run/others
for ((try = 0; try < 50; ++try)); do # who is about to end may do so
  [ -s /run/others ] || exit "$status"
  sleep 0.1
  others >/run/others
done
echo "processes that the command has left behind:" >&2
cat /run/others >&2
exit 1
