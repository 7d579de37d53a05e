import type { Logger } from 'pino';
import type { Driver } from '../driver.ts';
import type { Cluster } from './cluster.ts';
import type { TrackedAttempts } from './tracked-attempts.ts';

/** About two screens. */
const BYTES_MAX = 16_384;

/** Reads what attempts print, from their nodes. What cannot be read now is read later, or is gone with its pod. */
export function readOutput({
  cluster,
  attempts,
  log,
  everyMs,
}: {
  cluster: Cluster;
  attempts: TrackedAttempts;
  log: Logger;
  /** Each look goes through the API server to a node. */
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
    // What brings the inputs may have failed before the work began.
    const hasBegun = pod.status?.containerStatuses?.some(({ state }) => state?.running ?? state?.terminated);
    const container = hasBegun ? 'work' : 'fetch';
    const path = `/api/v1/namespaces/${cluster.namespace}/pods/${pod.metadata.name}/log`;
    try {
      const text = await cluster.readText(`${path}?container=${container}&${query}`);
      const lines = text.split('\n');
      // The last one of what was cut is read again.
      const isCut = text !== '' && !text.endsWith('\n');
      return { lines: (isCut ? lines.slice(0, -1) : lines).filter((line) => line !== ''), isCut };
    } catch (error) {
      // It has printed nothing yet, or its node is out of reach.
      log.debug({ err: error, workload_id: workloadId }, 'the output of a pod could not be read');
      return nothing;
    }
  }

  return {
    logs: async (workloadId, limit) => {
      const { lines } = await read(workloadId, `tailLines=${limit}`);
      const newest = newestOf(workloadId);
      const observed = newest && attempts.observe(newest.id, newest.attempt);
      const last = observed?.state === 'ended' ? observed.lastLine : null;
      // It may be another node's than the first, whose output this is, or its pod may be gone.
      return last === null || lines.includes(last) ? lines : [...lines, last].slice(-limit);
    },
    output: async (workloadId, cursor) => {
      const since = performance.now() - (lookedAt.get(workloadId) ?? Number.NEGATIVE_INFINITY);
      const newest = newestOf(workloadId);
      const hasEnded = newest && attempts.observe(newest.id, newest.attempt).state === 'ended';
      if (since < everyMs && !hasEnded) return { lines: [], cursor };
      lookedAt.set(workloadId, performance.now());
      const from = cursor === null ? '' : `&sinceTime=${encodeURIComponent(cursor)}`;
      const said = await read(workloadId, `timestamps=true&limitBytes=${BYTES_MAX}${from}`);
      const lines = said.lines.map(splitTime).filter(({ at }) => cursor === null || at > cursor);
      // The API takes whole seconds: where one has more to say than this, the rest of it is passed over.
      const stuck = cursor !== null && lines.length === 0 && said.isCut ? nextSecond(cursor) : cursor;
      return { lines: lines.map(({ text }) => text), cursor: lines.at(-1)?.at ?? stuck };
    },
    forget: (workloadId) => void lookedAt.delete(workloadId),
  };
}

function nextSecond(cursor: string): string {
  return new Date(Math.floor(Date.parse(cursor) / 1000) * 1000 + 1000).toISOString();
}

/** A line as kubelets send it: `2026-11-29T02:03:04.123456789Z what was printed`. */
function splitTime(line: string): { at: string; text: string } {
  const [at = '', text = ''] = /^(\S+) ?(.*)$/s.exec(line)?.slice(1) ?? [];
  return { at, text };
}
