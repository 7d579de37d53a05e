# Runs a command that needs files inside folders closed to it: bind-mounts.sh CWD DOOR PLACE... -- COMMAND...
# Runs in its own mount namespace (unshare --mount). There each closed folder (DOOR) is replaced by an
# empty one with public access, which contains only the places that the command needs. Pairs with the
# same door must be adjacent.
set -e
umask 022
cwd=$1
shift
open=
while [ "$1" != -- ]; do
  door=$1 place=$2
  shift 2
  if [ "$door" != "$open" ]; then
    # After the mount only `.` still refers to the closed folder.
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
  # An absolute path would lead to the empty folder, so prevent mount from resolving it.
  mount --no-canonicalize --bind "$there" "$place"
done
shift
cd "$cwd"
exec "$@"
