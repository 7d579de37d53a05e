import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type EnvironmentSettings,
  environmentDir,
  environmentPython,
  runtimeDir,
} from './environment/environment.ts';
import type { Environment } from './environment/layers.ts';

export type RuntimeCommand = {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Folders that it reads: its source, its packages, and the Python that they were installed for. */
  reads: string[];
};

/** The environment variables that a workload may see. Others, such as the database's address, are secret. */
const passedOn =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|LD_LIBRARY_PATH|CUDA_\w+|NVIDIA_\w+|G?OMP_\w+|(https?|no)_proxy|SSL_CERT_\w+)$/i;

/**
 * How to run the runtime: append a command and its arguments to `args`. `env` is the whole
 * environment of the child. The environment must have been prepared.
 */
export async function runtimeCommand(
  settings: EnvironmentSettings,
  environment?: Environment,
): Promise<RuntimeCommand> {
  const dir = await environmentDir(settings, environment);
  return {
    command: await environmentPython(settings, environment),
    reads: [path.join(runtimeDir, 'src'), dir, ...(await findBasePython(dir))],
    args: ['-m', 'bakehouse_runtime'],
    env: {
      // How long threads that wait for each other spin before they sleep. Sleeping at once halves the speed of
      // a quiet machine, spinning without a bound starves on a busy one: docs/decisions/threads-spin-briefly.md.
      GOMP_SPINCOUNT: '5000',
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name))),
      PYTHONPATH: path.join(runtimeDir, 'src'),
      // Not the working directory, which may be a folder that a workload writes to.
      PYTHONSAFEPATH: '1',
      PYTHONUNBUFFERED: '1',
      // Everything that a workload reads is a local file: nothing may reach for a hub.
      HF_HUB_OFFLINE: '1',
      HF_HUB_DISABLE_TELEMETRY: '1',
    },
  };
}

/** The folder of the Python that an environment was made with, as it stands in it; none before there is one. */
async function findBasePython(environment: string): Promise<string[]> {
  const settings = await readFile(path.join(environment, 'pyvenv.cfg'), 'utf8').catch(() => '');
  const bin = /^home = (.+)$/m.exec(settings)?.[1];
  return bin ? [path.dirname(bin.trim())] : [];
}
