import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { readConfig } from '../../server/src/config.ts';
import { runtimeDir } from '../../server/src/engine/machine/environment.ts';
import { runtimeCommand } from '../../server/src/engine/machine/runtime-command.ts';
import { preparePython, prepareStarterModel } from '../python-environment.ts';
import type { Measured } from './measured.ts';

const script = path.join(runtimeDir, 'bench', 'train.py');
const output = z.object({ ours_tokens_per_second: z.number(), bare_tokens_per_second: z.number() });

/** The product's trainer against a bare TRL script, same data and settings, in turns. */
export async function measureTraining(): Promise<Measured[]> {
  await preparePython('training');
  const model = await prepareStarterModel();
  const { command, env } = await runtimeCommand(readConfig(process.env));
  const { stdout } = await promisify(execFile)(command, [script, '--model', model], { env });
  const measured = output.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  return [
    {
      name: 'training',
      unit: 'tokens/s',
      ours: measured.ours_tokens_per_second,
      reference: { what: 'TRL alone', value: measured.bare_tokens_per_second },
      goal: { kind: 'ratio at least', value: 0.95 },
    },
  ];
}
