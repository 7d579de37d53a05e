import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { type Measured, medianPair, type Pair } from '../measured.ts';
import { runSide } from './run-side.ts';

/** Merges the starter and an adapter, against plain PEFT. Throws if the two models differ. */
export async function measureExport(model: string, count: number): Promise<Measured> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  const outs = { ours: path.join(folder, 'ours'), bare: path.join(folder, 'bare') };
  const args = ['--model', model, '--adapter', path.join(folder, 'adapter')];
  const run = async (side: 'ours' | 'bare') =>
    z.number().parse(await runSide('export.py', side, [...args, '--out', outs[side]]));
  try {
    await runSide('export.py', 'adapter', args);
    const rounds: Pair[] = [];
    for (let round = 0; round < count; round += 1) {
      rounds.push({ ours: await run('ours'), theirs: await run('bare') });
      await runSide('export.py', 'check', [...args, '--out', outs.ours, '--other', outs.bare]);
      for (const out of Object.values(outs)) await rm(out, { recursive: true });
    }
    const { ours, theirs } = medianPair(rounds);
    return {
      ...{ name: 'export', unit: 's', ours, reference: { what: 'PEFT alone', value: theirs } },
      goal: { kind: 'ratio at most', value: 1.2 },
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
