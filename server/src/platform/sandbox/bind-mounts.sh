# Runs a command that has to enter folders which are closed to it: bind-mounts.sh CWD DOOR PLACE... -- COMMAND...
# It begins in a view of the machine of its own (unshare --mount). There each closed folder (DOOR) is
# replaced by an empty one that anybody may enter, in which only the places under it appear that the
# command needs. Pairs of one door follow each other.
set -e
umask 022
cwd=$1
shift
open=
while [ "$1" != -- ]; do
  door=$1 place=$2
  shift 2
  if [ "$door" != "$open" ]; then
    # From here on `.` is the closed folder, which its own path does not lead to any more.
    cd "$door"
    mount -t tmpfs -o mode=755 bakehouse "$door"
    open=$door
  fi
  there=.${place#"$door"}
  if [ -d "$there" ]; then
    mkdir -p "$place"
  else
    mkdir -p "$(dirname "$place")"
    : > "$place"
  fi
  # As it stands: mount would make the path absolute, and it would lead to the empty folder.
  mount --no-canonicalize --bind "$there" "$place"
done
shift
cd "$cwd"
exec "$@"
