# Runs one attempt: launch.sh ATTEMPT_FILE EXIT_FILE COMMAND...
# Leads its own process group and outlives the server that started it.

# The process that creates the attempt's file owns it: a second start, or a start after the attempt
# was closed, exits here.
set -C
# With separate users, another user has to read the fetched inputs.
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

# Only the command itself is asked to stop; it must stop its own children. bubblewrap does not forward
# signals, so signal its only child, the command.
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
# A signal interrupts `wait` before the command has ended.
while kill -0 "$child" 2> /dev/null; do
  wait "$child"
  status=$?
done
echo "$status" > "$exit_file"
