import { type ChildProcess, fork } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Pauses before restarts double up to the longest. After `stableMs` without a crash, they start over. */
const PAUSES = { firstMs: 1_000, longestMs: 30_000, stableMs: 60_000 };

/**
 * Runs the server in a child process and restarts it when it dies. Returns its exit code in three cases: it
 * exits with 0, it ends before it was ever ready (its settings must be wrong), or this process was told to
 * end. The IPC channel tells the server to end. It closes when this process gets a signal, or is killed.
 */
export async function supervise(program: string, args: string[], pauses = PAUSES): Promise<number> {
  const ending = new AbortController();
  let server: ChildProcess | undefined;
  const end = () => {
    if (ending.signal.aborted) server?.kill('SIGKILL');
    else if (server?.connected) server.disconnect();
    ending.abort();
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  let wasReady = false;
  for (let pauseMs = pauses.firstMs; ; pauseMs = Math.min(2 * pauseMs, pauses.longestMs)) {
    const startedAt = performance.now();
    server = fork(program, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
    server.once('message', () => {
      wasReady = true;
    });
    const { code, reason } = await endOf(server);
    if (code === 0 || ending.signal.aborted || !wasReady) return code;
    if (performance.now() - startedAt > pauses.stableMs) pauseMs = pauses.firstMs;
    console.error(
      `bakehouse: The server exited unexpectedly (${reason}). Restarting in ${pauseMs / 1000} s.`,
    );
    await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined);
    if (ending.signal.aborted) return code;
  }
}

function endOf(child: ChildProcess): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      if (signal) resolve({ code: 128 + constants.signals[signal], reason: signal });
      else resolve({ code: code ?? 1, reason: `exit code ${code}` });
    });
    child.on('error', ({ message }) => child.pid === undefined && resolve({ code: 1, reason: message }));
  });
}
