import type { Logger } from 'pino';
import type { Driver } from '../driver.ts';
import type { Cluster } from './cluster.ts';
import type { TrackedAttempts } from './tracked-attempts.ts';

/** About two screens. */
const BYTES_MAX = 16_384;

/**
 * Reads the output of attempts from their nodes. Output that is unavailable now is read later, unless its pod
 * is deleted first.
 */
export function readOutput({
  cluster,
  attempts,
  log,
  everyMs,
}: {
  cluster: Cluster;
  attempts: TrackedAttempts;
  log: Logger;
  /** Minimum interval, because each read goes through the API server to a node. */
  everyMs: number;
}): Pick<Driver, 'logs' | 'output'> & { forget: (workloadId: string) => void } {
  const lookedAt = new Map<string, number>();

  const newestOf = (workloadId: string) =>
    attempts.list(workloadId).toSorted((a, b) => b.attempt - a.attempt)[0];

  async function read(workloadId: string, query: string): Promise<{ lines: string[]; isCut: boolean }> {
    const nothing = { lines: [], isCut: false };
    const newest = newestOf(workloadId);
    const pod = newest && attempts.pod(newest.id, newest.attempt);
    if (!pod) return nothing;
    // If the work container has not started, the init container may have failed, so read its output.
    const hasBegun = pod.status?.containerStatuses?.some(({ state }) => state?.running ?? state?.terminated);
    const container = hasBegun ? 'work' : 'fetch';
    const path = `/api/v1/namespaces/${cluster.namespace}/pods/${pod.metadata.name}/log`;
    try {
      const text = await cluster.readText(`${path}?container=${container}&${query}`);
      const lines = text.split('\n');
      // Drop an incomplete last line; the next read returns it completely.
      const isCut = text !== '' && !text.endsWith('\n');
      return { lines: (isCut ? lines.slice(0, -1) : lines).filter((line) => line !== ''), isCut };
    } catch (error) {
      // It has not printed anything yet, or its node is unreachable.
      log.debug({ err: error, workload_id: workloadId }, 'failed to read the output of a pod');
      return nothing;
    }
  }

  return {
    logs: async (workloadId, limit) => {
      const { lines } = await read(workloadId, `tailLines=${limit}`);
      const newest = newestOf(workloadId);
      const observed = newest && attempts.observe(newest.id, newest.attempt);
      const last = observed?.state === 'ended' ? observed.lastLine : null;
      // `lines` are from the first node. Add the last line of the node that failed, or of a pod that is gone.
      return last === null || lines.includes(last) ? lines : [...lines, last].slice(-limit);
    },
    output: async (workloadId, cursor) => {
      const since = performance.now() - (lookedAt.get(workloadId) ?? Number.NEGATIVE_INFINITY);
      const newest = newestOf(workloadId);
      const hasEnded = newest && attempts.observe(newest.id, newest.attempt).state === 'ended';
      if (since < everyMs && !hasEnded) return { lines: [], cursor };
      lookedAt.set(workloadId, performance.now());
      const from = cursor === null ? '' : `&sinceTime=${encodeURIComponent(cursor)}`;
      const logText = await read(workloadId, `timestamps=true&limitBytes=${BYTES_MAX}${from}`);
      const lines = logText.lines.map(splitTime).filter(({ at }) => cursor === null || at > cursor);
      // `sinceTime` has a resolution of a second. If one second has more output than a read returns, skip the
      // rest of that second.
      const stuck = cursor !== null && lines.length === 0 && logText.isCut ? nextSecond(cursor) : cursor;
      return { lines: lines.map(({ text }) => text), cursor: lines.at(-1)?.at ?? stuck };
    },
    forget: (workloadId) => void lookedAt.delete(workloadId),
  };
}

function nextSecond(cursor: string): string {
  return new Date(Math.floor(Date.parse(cursor) / 1000) * 1000 + 1000).toISOString();
}

/** Parses a line as sent by kubelets: `2026-11-29T02:03:04.123456789Z what was printed`. */
function splitTime(line: string): { at: string; text: string } {
  const [at = '', text = ''] = /^(\S+) ?(.*)$/s.exec(line)?.slice(1) ?? [];
  return { at, text };
}
