import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { readConfig } from '../../server/src/config.ts';
import { runtimeDir } from '../../server/src/engine/host/environment/environment.ts';
import { runtimeCommand } from '../../server/src/engine/host/runtime-command.ts';
import { preparePython, prepareStarterModel } from '../prepare/python-environment.ts';
import { root } from '../root.ts';
import { cleanEnvironment } from './clean-environment.ts';
import { type Measured, medianPair, type Pair } from './measured.ts';

const ROUNDS = 3;

/** The product's trainers in their own environment against bare scripts in a clean one, in turns. */
export async function measureTraining(): Promise<Measured[]> {
  await preparePython('training');
  const text = await measureSides('train.py', await prepareStarterModel());
  const pictures = await measureSides('train_pictures.py', path.join(root, 'models', 'starter-kontext'), {
    PYTHONPATH: path.join(runtimeDir, 'src'),
  });
  return [
    {
      name: 'training',
      unit: 'tokens/s',
      ours: text.ours,
      reference: { what: 'TRL alone', value: text.theirs },
      goal: { kind: 'ratio at least', value: 1.3 },
    },
    {
      name: 'training on pictures',
      unit: 'pictures/s',
      ours: pictures.ours,
      reference: { what: 'a bare loop', value: pictures.theirs },
      goal: { kind: 'ratio at least', value: 0.95 },
    },
  ];
}

/** What a script of `runtime/bench` measures of each side; `needed` is what the bare one cannot do without. */
async function measureSides(script: string, model: string, needed = {}): Promise<Pair> {
  const { command, env } = await runtimeCommand(readConfig(process.env));
  const perSecond = async (side: 'ours' | 'bare', environment: NodeJS.ProcessEnv) => {
    const args = [path.join(runtimeDir, 'bench', script), '--run', side, '--model', model];
    const { stdout } = await promisify(execFile)(command, args, { env: environment });
    return z.number().parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  };
  const bare = { ...cleanEnvironment(), ...needed };
  const rounds: Pair[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ours = await perSecond('ours', env);
    rounds.push({ ours, theirs: await perSecond('bare', bare) });
  }
  return medianPair(rounds);
}
