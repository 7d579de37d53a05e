import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import { ProgramFailed, runProgram } from '../../platform/processes/run-program.ts';
import type { Gpu } from '../model/gpu.ts';
import { type EnvironmentSettings, environmentDir } from './environment/environment.ts';
import { runtimeCommand } from './runtime-command.ts';

/** The first use of a GPU by a driver that has just been installed takes a minute. */
const PROBE_MS_MAX = 300_000;

/**
 * Has PyTorch compute a little on each of these GPUs: that nvidia-smi lists them does not say that it can. Needs the
 * layer 'training'. Until it can, no work is given to those on which it cannot (`workingGpus`), of which this resolves
 * to sentences that name what is missing on the machine.
 */
export async function probeGpus(
  settings: EnvironmentSettings,
  devices: number[],
  stopped: AbortSignal,
): Promise<string[]> {
  const said = await Promise.all(devices.map((device) => probeGpu(settings, device, stopped)));
  const failed = devices.filter((_, at) => said[at] !== null);
  await writeFile(await failureOf(settings), failed.join(' '));
  return failed.map((device) => `GPU ${device} is not used: ${said[devices.indexOf(device)]}`);
}

/** In a separate process, so that a crash of one GPU does not affect the others. Null where it computes. */
async function probeGpu(
  settings: EnvironmentSettings,
  device: number,
  stopped: AbortSignal,
): Promise<string | null> {
  const { command, args, env } = await runtimeCommand(settings);
  const visible = { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: String(device) };
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(PROBE_MS_MAX)]);
  try {
    await runProgram(command, [...args, 'probe'], { env: { ...env, ...visible }, signal });
    return null;
  } catch (error) {
    stopped.throwIfAborted();
    const said = error instanceof ProgramFailed ? error.output.at(-1) : null;
    return said ?? 'It does not answer PyTorch.';
  }
}

/** These GPUs without those on which PyTorch could not compute when it was tried last. */
export async function workingGpus(
  settings: EnvironmentSettings & Pick<Config, 'prepare'>,
  gpus: Gpu[],
): Promise<Gpu[]> {
  // A server that prepares nothing does not probe either: an old result would hold forever.
  if (!settings.prepare) return gpus;
  const failed = (await readFile(await failureOf(settings), 'utf8').catch(() => '')).split(' ');
  return gpus
    .map((gpu) => ({ ...gpu, devices: gpu.devices.filter((device) => !failed.includes(String(device))) }))
    .filter(({ devices }) => devices.length > 0);
}

/** Whether there is a compiler that Triton, and so vLLM, builds its launchers with. */
export async function hasCCompiler(commands = ['gcc', 'clang']): Promise<boolean> {
  const found = await Promise.allSettled(commands.map((command) => runProgram(command, ['--version'])));
  return found.some(({ status }) => status === 'fulfilled');
}

/** A file beside the packages, which outlives the server: until it has tried them again, they have failed. */
async function failureOf(settings: EnvironmentSettings): Promise<string> {
  return path.join(await environmentDir(settings), '.bakehouse-gpus-failed');
}
