import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { readConfig } from '../../server/src/config.ts';
import { runtimeDir } from '../../server/src/engine/host/environment/environment.ts';
import { runtimeCommand } from '../../server/src/engine/host/runtime-command.ts';
import { preparePython, prepareStarterModel } from '../prepare/python-environment.ts';
import { cleanEnvironment } from './clean-environment.ts';
import { type Measured, medianPair, type Pair } from './measured.ts';

const script = path.join(runtimeDir, 'bench', 'train.py');
const ROUNDS = 3;

/** The product's trainer in its own environment against a bare TRL script in a clean one, in turns. */
export async function measureTraining(): Promise<Measured[]> {
  await preparePython('training');
  const model = await prepareStarterModel();
  const { command, env } = await runtimeCommand(readConfig(process.env));
  const tokensPerSecond = async (side: 'ours' | 'bare', environment: NodeJS.ProcessEnv) => {
    const args = [script, '--run', side, '--model', model];
    const { stdout } = await promisify(execFile)(command, args, { env: environment });
    return z.number().parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  };

  const rounds: Pair[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ours = await tokensPerSecond('ours', env);
    rounds.push({ ours, theirs: await tokensPerSecond('bare', cleanEnvironment()) });
  }
  const { ours, theirs } = medianPair(rounds);
  return [
    {
      name: 'training',
      unit: 'tokens/s',
      ours,
      reference: { what: 'TRL alone', value: theirs },
      goal: { kind: 'ratio at least', value: 1.3 },
    },
  ];
}
