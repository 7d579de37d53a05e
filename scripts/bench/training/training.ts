import path from 'node:path';
import * as z from 'zod';
import { runtimeDir } from '../../../server/src/engine/host/environment/environment.ts';
import { preparePython, prepareStarterModel } from '../../prepare/python-environment.ts';
import { root } from '../../root.ts';
import { type Measured, medianPair, type Pair } from '../measured.ts';
import { runSide } from './run-side.ts';
import { requireSameLosses } from './same-losses.ts';

const ROUNDS = 3;

/** The product's trainers against bare scripts in a clean environment, alternately. */
export async function measureTraining(tell: (line: Measured) => void): Promise<Measured[]> {
  await preparePython('training');
  const model = await prepareStarterModel();
  const lines: Measured[] = [];
  const add = (line: Measured) => {
    tell(line);
    lines.push(line);
  };
  add(atLeast(1.3, 'training', 'tokens/s', 'TRL alone', await measureText(model)));
  add(atLeast(1, 'training of all weights', 'tokens/s', 'TRL alone', await measureText(model, '--full')));
  add(atLeast(0.95, 'training on pictures', 'pictures/s', 'a bare loop', await measurePictures()));
  return lines;
}

function atLeast(value: number, name: string, unit: string, what: string, { ours, theirs }: Pair): Measured {
  return {
    ...{ name, unit, ours, reference: { what, value: theirs } },
    goal: { kind: 'ratio at least', value },
  };
}

const trained = z.object({ per_second: z.number(), losses: z.array(z.number()) });

/** Returns tokens per second. Throws if the two sides have not learnt the same. */
async function measureText(model: string, ...options: string[]): Promise<Pair> {
  const run = async (side: 'ours' | 'bare') =>
    trained.parse(await runSide('train.py', side, ['--model', model, ...options]));
  const rounds: Pair[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [ours, theirs] = [await run('ours'), await run('bare')];
    requireSameLosses(ours.losses, theirs.losses);
    rounds.push({ ours: ours.per_second, theirs: theirs.per_second });
  }
  return medianPair(rounds);
}

/** Returns images per second; the bare loop reads them with the runtime's code. */
async function measurePictures(): Promise<Pair> {
  const args = ['--model', path.join(root, 'models', 'starter-kontext')];
  const needed = { PYTHONPATH: path.join(runtimeDir, 'src') };
  const run = async (side: 'ours' | 'bare') =>
    z.number().parse(await runSide('train_pictures.py', side, args, needed));
  const rounds: Pair[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({ ours: await run('ours'), theirs: await run('bare') });
  return medianPair(rounds);
}
