import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { readConfig } from '../../server/src/config.ts';
import { runtimeDir } from '../../server/src/engine/host/environment/environment.ts';
import { runtimeCommand } from '../../server/src/engine/host/runtime-command.ts';
import { preparePython } from '../prepare/python-environment.ts';
import { root } from '../root.ts';
import { cleanEnvironment } from './clean-environment.ts';

export type BarePictures = { seconds: (prompt: string) => Promise<number>; stop: () => void };

/** The starter's pipeline in a plain Python, with PyTorch's own defaults and in a clean environment. */
export async function startBarePictures(steps: number): Promise<BarePictures> {
  await preparePython('training');
  const { command } = await runtimeCommand(readConfig(process.env));
  const model = path.join(root, 'models', 'starter-paris');
  const script = path.join(runtimeDir, 'bench', 'pictures.py');
  const bare = spawn(command, [script, '--model', model, '--steps', String(steps)], {
    env: { ...cleanEnvironment(), PYTHONPATH: path.join(runtimeDir, 'src') },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: bare.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('The bare pipeline ended before it had generated anything.');
    return value;
  };
  await next();
  return {
    seconds: async (prompt) => {
      bare.stdin.write(`${prompt}\n`);
      return Number(await next());
    },
    stop: () => void bare.stdin.end(),
  };
}
