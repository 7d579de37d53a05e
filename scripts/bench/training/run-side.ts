import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { readConfig } from '../../../server/src/config.ts';
import { runtimeDir } from '../../../server/src/engine/host/environment/environment.ts';
import { runtimeCommand } from '../../../server/src/engine/host/runtime-command.ts';
import { cleanEnvironment } from '../clean-environment.ts';

/**
 * Runs a script of `runtime/bench` for one side, and returns the JSON that it prints. The product's side runs
 * in its own environment. The others run in a clean one, plus the variables in `needed`. Rejects if the
 * script fails.
 */
export async function runSide(
  script: string,
  run: string,
  args: string[],
  needed: NodeJS.ProcessEnv = {},
): Promise<unknown> {
  const { command, env } = await runtimeCommand(readConfig(process.env));
  const { stdout } = await promisify(execFile)(
    command,
    [path.join(runtimeDir, 'bench', script), '--run', run, ...args],
    { env: run === 'ours' ? env : { ...cleanEnvironment(), ...needed } },
  );
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}
