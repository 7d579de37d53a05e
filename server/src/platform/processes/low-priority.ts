// If the kernel divides the CPU among sessions first (autogroup), a low priority only works for a whole
// session.
const GIVE_WAY = '(echo 19 > /proc/self/autogroup) 2> /dev/null; exec chrt --idle 0 "$@"';

/**
 * Prefix for a command in its own session: it only gets CPU time that interactive work (the web app and the
 * served models) leaves over. On Linux in the idle class: even at nice 19 a busy process delays the threads
 * of a chat, which wake at every token (docs/decisions/cpu-scheduling-of-workloads.md).
 */
export const atLowPriority =
  process.platform === 'linux' ? ['/bin/sh', '-c', GIVE_WAY, 'sh'] : ['nice', '-n', '19'];
