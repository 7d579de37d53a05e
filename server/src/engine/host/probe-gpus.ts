import { access, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '../../platform/errors.ts';
import { ProgramFailed, runProgram } from '../../platform/processes/run-program.ts';
import { type EnvironmentSettings, environmentDir } from './environment/environment.ts';
import { runtimeCommand } from './runtime-command.ts';

/** The first use of a GPU by a driver that has just been installed takes a minute. */
const PROBE_MS_MAX = 300_000;

/**
 * Has PyTorch compute a little on each of these GPUs: that nvidia-smi lists them does not say that it can. Needs the
 * layer 'training'. Until it can, no work is given to them (`haveGpusFailed`). Throws AppError('unavailable') with a sentence that names what is missing on the machine.
 */
export async function probeGpus(
  settings: EnvironmentSettings,
  devices: number[],
  stopped: AbortSignal,
): Promise<void> {
  const { command, args, env } = await runtimeCommand(settings);
  const visible = { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: devices.join(',') };
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(PROBE_MS_MAX)]);
  try {
    await runProgram(command, [...args, 'probe'], { env: { ...env, ...visible }, signal });
    await rm(await failureOf(settings), { force: true });
  } catch (error) {
    stopped.throwIfAborted();
    await writeFile(await failureOf(settings), '');
    const said = error instanceof ProgramFailed ? error.output.at(-1) : null;
    throw new AppError('unavailable', {
      publicMessage: said ?? 'The GPUs of this machine do not answer PyTorch.',
      cause: error,
    });
  }
}

/** Whether PyTorch could not compute on the GPUs when it was tried last. */
export async function haveGpusFailed(settings: EnvironmentSettings): Promise<boolean> {
  return access(await failureOf(settings)).then(
    () => true,
    () => false,
  );
}

/** A file beside the packages, so that every process of this machine knows. */
async function failureOf(settings: EnvironmentSettings): Promise<string> {
  return path.join(await environmentDir(settings), '.bakehouse-gpus-failed');
}
