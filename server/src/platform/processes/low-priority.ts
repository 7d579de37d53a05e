// Where the kernel shares the processor among sessions first (autogroup), a process gives way only with its session.
const GIVE_WAY = '(echo 19 > /proc/self/autogroup) 2> /dev/null; exec chrt --idle 0 "$@"';

/**
 * Before the command of a session of its own: it gets what people who wait, for the web app and the served models,
 * leave over. On Linux in the idle class: even at nice 19 a busy process delays the threads of a chat, which
 * wake at every token (docs/decisions/cpu-scheduling-of-workloads.md).
 */
export const atLowPriority =
  process.platform === 'linux' ? ['/bin/sh', '-c', GIVE_WAY, 'sh'] : ['nice', '-n', '19'];
