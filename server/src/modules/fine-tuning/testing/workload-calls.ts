import { createHash } from 'node:crypto';
import { MICRO_PER_BGL, parseBgl } from '@bakehouse/contract/money';
import type { Report } from '@bakehouse/contract/runtime/report';
import { expect } from 'vitest';
import type { Launch } from '../../../engine/drivers/driver.ts';
import type { Script } from '../../../engine/drivers/fake/fake-driver.ts';
import type { FakeClock } from '../../../testing/fake-clock.ts';

type Unnumbered = Report extends infer R ? (R extends Report ? Omit<R, 'seq' | 'at'> : never) : never;

/** Price of the CPU. */
export const PRICE_MICRO_PER_S = Number((25n * MICRO_PER_BGL) / 10n) / 3600;

export const micro = (amount: string | null) => Number(parseBgl(amount ?? '0'));

/** Returns a progress report. */
export const step = (done: number, total = 2): Unnumbered => ({
  type: 'progress',
  done,
  total,
  unit: 'steps',
  remaining_seconds: total - done,
});

/** Simulates workloads. Their clock advances only if a test advances it. */
export function workloadCalls(clock: FakeClock) {
  /** Calls the server like the runtime. */
  function workload({ workloadId, server: { base_url, token } }: Launch) {
    const call = (method: string, path: string, body?: string | Buffer, headers?: Record<string, string>) =>
      fetch(`${base_url}/runtime/v1/workloads/${workloadId}/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        body: typeof body === 'string' ? body : body && new Uint8Array(body),
      });
    const post = async (reports: Report[]) => {
      const answer = await call('POST', 'reports', JSON.stringify({ reports }), {
        'content-type': 'application/json',
      });
      expect(answer.status, await answer.clone().text()).toBe(200);
      return (await answer.json()) as { accepted_seq: number; command: 'continue' | 'stop' };
    };
    return {
      call,
      /** Sends reports with the sequence numbers that the server expects. */
      report: async (...reports: Unnumbered[]) => {
        const { accepted_seq } = await post([]);
        const at = clock.now().toISOString();
        return post(reports.map((one, index) => ({ ...one, seq: accepted_seq + index + 1, at })));
      },
      put: async (path: string, text: string) => {
        const sha256 = createHash('sha256').update(text).digest('hex');
        const headers = { 'content-type': 'application/octet-stream', 'x-content-sha256': sha256 };
        expect((await call('PUT', `artefacts/${path}`, Buffer.from(text), headers)).status).toBe(204);
        return { path, sha256, size_bytes: text.length };
      },
    };
  }

  /** Trains for `seconds` and delivers a model. `said` has additional values for its summary. */
  function trainFor(seconds: number, said: Record<string, number> = {}): Script {
    return async (launch) => {
      const { report, put } = workload(launch);
      await report({ type: 'phase', phase: 'training' }, step(0));
      for (let left = seconds; left > 0; left -= 10) {
        clock.advance({ seconds: Math.min(10, left) });
        await report({ type: 'metrics', step: 1, values: { loss: 1.5 } });
      }
      const files = [await put('adapter_config.json', '{"r":8}'), await put('README.md', '# My model')];
      await report(
        step(2),
        { type: 'log', line: 'done' },
        { type: 'result', files, summary: { eval_loss: 0.5, ...said } },
      );
      return 0;
    };
  }
  return { workload, trainFor };
}
