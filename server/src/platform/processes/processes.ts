import { totalmem } from 'node:os';
import type { Readable } from 'node:stream';
import * as z from 'zod';

// With autogroups, Linux first divides the CPU among sessions. Then a low priority only has an effect if the
// whole session has it.
const GIVE_WAY = '(echo 19 > /proc/self/autogroup) 2> /dev/null; exec chrt --idle 0 "$@"';

/**
 * Prefix that runs a command in its own session with low priority. It then only gets CPU time that the web
 * app and the served models do not need. On Linux it uses the idle class: even at nice 19, a busy process
 * would delay the threads of a chat, which wake at every token
 * (docs/decisions/cpu-scheduling-of-workloads.md).
 */
export const atLowPriority =
  process.platform === 'linux' ? ['/bin/sh', '-c', GIVE_WAY, 'sh'] : ['nice', '-n', '19'];

/** Settings of processes that run as replicas, such as pods. */
export const replicaSettings = {
  /** Socket of the reader for uploads. With `none`, this process reads them, even if it has no sandbox. */
  BAKEHOUSE_READER: z
    .string()
    .regex(/^(none|\/.+)$/, 'must be the path of a socket, or none')
    .optional(),
  /** How long a process that is asked to stop finishes open requests while other processes serve new ones. */
  BAKEHOUSE_DRAIN_SECONDS: z.coerce.number().min(0).max(1800).default(20),
};

/** Longer than any line from our programs or the Kubernetes API. */
const LINE_CHARS_MAX = 16 * 1024 * 1024;

/** Returns the memory limit of the container, or all of the machine's memory without a container. */
export function machineMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Returns the replica settings. */
export function replicaOf(s: z.output<z.ZodObject<typeof replicaSettings>>) {
  return { reader: s.BAKEHOUSE_READER ?? null, drainSeconds: s.BAKEHOUSE_DRAIN_SECONDS };
}

/**
 * Yields the lines of a text stream. Only "
 * " and "\r
 * " end a line: `node:readline` also splits at U+2028 and U+2029, which JSON contains unescaped. Throws an
 * Error if a line is too long, and destroys the stream if the caller stops early.
 */
export async function* readLines(stream: Readable, charsMax = LINE_CHARS_MAX): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const [first = '', ...others] = String(chunk).split('\n');
    rest += first;
    for (const next of others) {
      yield withoutReturn(rest);
      rest = next;
    }
    if (rest.length > charsMax) throw new Error(`line has more than ${charsMax} characters`);
  }
  if (rest !== '') yield withoutReturn(rest);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
