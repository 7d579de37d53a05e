import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import { ProgramFailed, runProgram } from '../../platform/processes/run-program.ts';
import type { Gpu } from '../model/gpu.ts';
import { type EnvironmentSettings, environmentDir } from './environment/environment.ts';
import { runtimeCommand } from './runtime-command.ts';

/** The first use of a GPU after a driver installation takes a minute. */
const PROBE_MS_MAX = 300_000;

/**
 * Runs a small PyTorch computation on each of these GPUs, because nvidia-smi also lists GPUs that do not
 * work. Needs the layer 'training'. Failed GPUs get no work until they pass (`workingGpus`). Resolves to one
 * sentence per failed GPU that explains what is missing.
 */
export async function probeGpus(
  settings: EnvironmentSettings,
  devices: number[],
  stopped: AbortSignal,
): Promise<string[]> {
  const results = await Promise.all(devices.map((device) => probeGpu(settings, device, stopped)));
  const failed = devices.filter((_, at) => results[at] !== null);
  await writeFile(await failureOf(settings), failed.join(' '));
  return failed.map((device) => `GPU ${device} is not used: ${results[devices.indexOf(device)]}`);
}

/** Returns why the GPU fails, or null. Uses a process per GPU, so that a crash does not affect the others. */
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
    const lastLine = error instanceof ProgramFailed ? error.output.at(-1) : null;
    return lastLine ?? 'PyTorch cannot use it.';
  }
}

/** Returns these GPUs except those that failed the last probe. */
export async function workingGpus(
  settings: EnvironmentSettings & Pick<Config, 'prepare'>,
  gpus: Gpu[],
): Promise<Gpu[]> {
  // Without preparation this server never probes, so a recorded failure would never be cleared.
  if (!settings.prepare) return gpus;
  const failed = (await readFile(await failureOf(settings), 'utf8').catch(() => '')).split(' ');
  return gpus
    .map((gpu) => ({ ...gpu, devices: gpu.devices.filter((device) => !failed.includes(String(device))) }))
    .filter(({ devices }) => devices.length > 0);
}

/** Returns true if there is a C compiler; Triton, and so vLLM, needs one to build its launchers. */
export async function hasCCompiler(commands = ['gcc', 'clang']): Promise<boolean> {
  const found = await Promise.allSettled(commands.map((command) => runProgram(command, ['--version'])));
  return found.some(({ status }) => status === 'fulfilled');
}

/** Lists the failed GPUs. Stored next to the packages, so that it survives restarts. */
async function failureOf(settings: EnvironmentSettings): Promise<string> {
  return path.join(await environmentDir(settings), '.bakehouse-gpus-failed');
}
