# Runs one attempt: launch.sh ATTEMPT_FILE EXIT_FILE COMMAND...
# It is the leader of its own process group and outlives the server that started it.

# The attempt belongs to whoever creates its file: a second start, or one that comes after the
# attempt was closed, ends here.
set -C
# Where users are walled off from each other, another one has to read what is brought here.
umask 022
attempt_file=$1 exit_file=$2
shift 2
if [ -r /proc/self/stat ]; then
  read -r boot < /proc/sys/kernel/random/boot_id
  birth="$boot $(cut -d " " -f 22 "/proc/$$/stat")"
else
  birth=$(echo $(ps -o lstart= -p $$))
fi
echo "$$ $birth" > "$attempt_file" || exit 75

# Only the command itself is asked to stop; what it started is its own to end. bubblewrap passes no
# signal on: the command is its only child.
child=
ask_to_stop() {
  [ -z "$child" ] && exit 143
  case "$(cat "/proc/$child/comm" 2> /dev/null)" in
    bwrap) kill -TERM $(cat "/proc/$child/task/$child/children") ;;
    *) kill -TERM "$child" ;;
  esac
}
trap ask_to_stop TERM
"$@" &
child=$!
wait "$child"
status=$?
# A signal ends the waiting before the command has ended.
while kill -0 "$child" 2> /dev/null; do
  wait "$child"
  status=$?
done
echo "$status" > "$exit_file"
