# Runs one attempt: launch.sh ATTEMPT_FILE EXIT_FILE COMMAND...
# It is the leader of its own process group and outlives the server that started it.

# The attempt belongs to whoever creates its file: a second start, or one that comes after the
# attempt was closed, ends here.
set -C
attempt_file=$1 exit_file=$2
shift 2
if [ -r /proc/self/stat ]; then
  read -r boot < /proc/sys/kernel/random/boot_id
  birth="$boot $(cut -d " " -f 22 "/proc/$$/stat")"
else
  birth=$(echo $(ps -o lstart= -p $$))
fi
echo "$$ $birth" > "$attempt_file" || exit 75

# Only the command itself is asked to stop; what it started is its own to end.
child=
trap '[ -z "$child" ] && exit 143; kill -TERM "$child"' TERM
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
