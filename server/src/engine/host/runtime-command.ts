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
  /** Folders that it reads: its source, its packages, and the base Python. */
  reads: string[];
};

/** Environment variables that workloads may see. Others, such as the database URL, are secret. */
const passedOn =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|LD_LIBRARY_PATH|CUDA_\w+|NVIDIA_\w+|G?OMP_\w+|(https?|no)_proxy|SSL_CERT_\w+)$/i;

/**
 * Returns how to run the runtime: append a command and its arguments to `args`. `env` is the child's whole
 * environment. The environment must be prepared.
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
      // How long waiting threads spin before they sleep. Sleeping immediately halves the speed of an idle
      // machine; unbounded spinning starves a busy one: docs/decisions/cpu-scheduling-of-workloads.md.
      GOMP_SPINCOUNT: '5000',
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name))),
      PYTHONPATH: path.join(runtimeDir, 'src'),
      // Do not import from the working directory, which a workload may write to.
      PYTHONSAFEPATH: '1',
      PYTHONUNBUFFERED: '1',
      // Workloads read local files only; nothing may access a hub.
      HF_HUB_OFFLINE: '1',
      HF_HUB_DISABLE_TELEMETRY: '1',
    },
  };
}

/** Returns the folder of the Python that an environment was created with; empty if there is none. */
async function findBasePython(environment: string): Promise<string[]> {
  const settings = await readFile(path.join(environment, 'pyvenv.cfg'), 'utf8').catch(() => '');
  const bin = /^home = (.+)$/m.exec(settings)?.[1];
  return bin ? [path.dirname(bin.trim())] : [];
}
