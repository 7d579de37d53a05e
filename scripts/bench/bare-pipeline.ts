import { spawn } from 'node:child_process';
import path from 'node:path';
import { readConfig } from '../../server/src/config.ts';
import { runtimeDir } from '../../server/src/engine/host/environment/environment.ts';
import { runtimeCommand } from '../../server/src/engine/host/runtime-command.ts';
import { readLines } from '../../server/src/platform/processes/processes.ts';
import { preparePython } from '../prepare/python-environment.ts';
import { root } from '../root.ts';
import { cleanEnvironment } from './clean-environment.ts';

export type BarePipeline = { seconds: (prompt: string) => Promise<number>; stop: () => void };

/** Runs a starter's pipeline with a script of `runtime/bench`: plain Python in a clean environment. */
export async function startBarePipeline(
  script: string,
  starter: string,
  options: string[] = [],
): Promise<BarePipeline> {
  await preparePython('training');
  const { command } = await runtimeCommand(readConfig(process.env));
  const model = path.join(root, 'models', starter);
  const bare = spawn(command, [path.join(runtimeDir, 'bench', script), '--model', model, ...options], {
    env: { ...cleanEnvironment(), PYTHONPATH: path.join(runtimeDir, 'src') },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = readLines(bare.stdout);
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
