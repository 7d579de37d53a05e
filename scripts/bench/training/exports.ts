import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { environmentPython } from '../../../server/src/engine/host/environment/environment.ts';
import { runProgram } from '../../../server/src/platform/processes/run-program.ts';
import { readSettings } from '../../client/settings.ts';
import { preparePython } from '../../prepare/python-environment.ts';
import { type Measured, medianPair, type Pair } from '../measured.ts';
import { runSide } from './run-side.ts';

const FORMS = [
  { form: 'safetensors', what: 'PEFT alone' },
  { form: 'F16', what: "PEFT and llama.cpp's converter" },
  { form: 'Q8_0', what: "PEFT and llama.cpp's converter" },
] as const;

/** Whole models of the starter and an adapter, in each form that an export has, against what a person runs without the product. */
export async function measureExports(
  model: string,
  rounds: number,
  tell: (line: Measured) => void,
): Promise<void> {
  const converter = await prepareConverter();
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  try {
    const adapter = path.join(folder, 'adapter');
    await runSide('export.py', 'adapter', ['--model', model, '--adapter', adapter]);
    for (const { form, what } of FORMS) {
      const args = ['--form', form, '--model', model, '--adapter', adapter];
      const { ours, theirs } = await measureForm(folder, [...args, '--converter', converter], rounds);
      tell({
        ...{ name: `export as ${form}`, unit: 's', ours, reference: { what, value: theirs } },
        goal: { kind: 'ratio at most', value: 1.2 },
      });
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Seconds. Throws where the two sides have not made the same model. */
async function measureForm(folder: string, args: string[], count: number): Promise<Pair> {
  const outs = { ours: path.join(folder, 'ours'), bare: path.join(folder, 'bare') };
  const run = async (side: 'ours' | 'bare') =>
    z.number().parse(await runSide('export.py', side, [...args, '--out', outs[side]]));
  const rounds: Pair[] = [];
  for (let round = 0; round < count; round += 1) {
    rounds.push({ ours: await run('ours'), theirs: await run('bare') });
    await runSide('export.py', 'check', [...args, '--out', outs.ours, '--other', outs.bare]);
    for (const out of Object.values(outs)) await rm(out, { recursive: true });
  }
  return medianPair(rounds);
}

/** The folder of llama.cpp's converter, which runs with the runtime's own packages. */
async function prepareConverter(): Promise<string> {
  await preparePython('converter');
  const python = await environmentPython(readSettings(), 'converter');
  const [folder = ''] = await runProgram(python, [
    '-c',
    "import sysconfig; print(sysconfig.get_path('purelib'))",
  ]);
  return folder;
}
