import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../../platform/context.ts';
import { AppError, unavailable } from '../../../platform/errors.ts';
import { ensureLayer, type OnProgress } from '../environment/ensure-layer.ts';
import { hasGpusToPrepare, haveListedAccelerators, listAccelerators } from '../machine-accelerators.ts';
import { hasCCompiler, probeGpus } from '../probe-gpus.ts';
import { type ImageStarter, imageStarters, listImageStarter } from './image-starters.ts';
import { type PreparationId, preparationIds } from './preparation-ids.ts';
import { PreparationRecord } from './preparation-record.ts';
import {
  ensureStarterModel,
  type Format,
  type PreparedStarter,
  type RegisterStarterModel,
  type StarterFile,
  starterModelDir,
} from './starter-model.ts';

const RETRY_MS = 60_000;
const NO_COMPILER =
  'This machine has no C compiler, which vLLM needs to build code for the GPU: install gcc (Debian, Ubuntu: apt install gcc).';

type NeededServices = Pick<Services, 'clock' | 'config' | 'db' | 'log'>;
/** Registers public models from the files of each starter model. */
type RegisterImageStarter = (name: ImageStarter, files: StarterFile[]) => Promise<unknown>;
export type RegisterStarterModels = {
  language: RegisterStarterModel;
  embedding: RegisterStarterModel;
  image: RegisterImageStarter;
};
type Work = {
  services: NeededServices;
  register: RegisterStarterModels;
  signal: AbortSignal;
  /** One sentence for each GPU that failed the probe; null until a probe has found a working GPU. */
  brokenGpus: string[] | null;
};

/** One step. Returns the message for its row, and its fingerprint if that changed. */
type Step = (
  work: Work,
  fingerprint: string | null,
  onProgress: OnProgress,
) => Promise<{ detail: string; fingerprint?: string }>;

const steps: Record<PreparationId, Step> = {
  serving: async ({ services: { config }, signal }, _fingerprint, onProgress) => {
    await ensureLayer(config, 'serving', onProgress, signal);
    return { detail: 'Text models can be served' };
  },

  'starter-language-model': async (work, fingerprint, onProgress) => {
    return {
      detail: 'Everyone can chat with it',
      fingerprint: await registerFormat(work, 'gguf', fingerprint, onProgress),
    };
  },

  'starter-embedding-model': async (work, fingerprint, onProgress) => {
    return {
      detail: 'Everyone can compare texts with it',
      fingerprint: await registerFormat(work, 'safetensors', fingerprint, onProgress, 'embedding'),
    };
  },

  training: async (work, fingerprint, onProgress) => {
    const { services, signal } = work;
    const { config, log } = services;
    await ensureLayer(config, 'training', scaled(onProgress, 0, 0.9), signal);
    if (await hasGpusToPrepare(config, log)) await ensureLayer(config, 'gpu-training', onProgress, signal);
    return {
      detail: 'Models can be fine-tuned',
      fingerprint: await registerFormat(work, 'safetensors', fingerprint, scaled(onProgress, 0.9, 1)),
    };
  },

  'starter-image-model': async ({ register }, _fingerprint, onProgress) => {
    onProgress('Storing the files', null);
    for (const name of Object.keys(imageStarters) as ImageStarter[])
      await register.image(name, await listImageStarter(name));
    return { detail: 'Everyone can generate and edit with them' };
  },

  vllm: async (work, _fingerprint, onProgress) => {
    const { services, signal } = work;
    const { config, log } = services;
    const { gpus, needDriver, withoutVllm } = await listAccelerators(config, log);
    if (gpus.length === 0) throw unavailable(needDriver.join(' '));
    onProgress('Computing on the GPUs', null);
    work.brokenGpus ??= await tryGpus(
      work,
      gpus.flatMap(({ devices }) => devices),
    );
    if (withoutVllm.length > 0) throw unavailable(withoutVllm.join(' '));
    if (!(await hasCCompiler())) throw unavailable(NO_COMPILER);
    await ensureLayer(config, 'vllm', onProgress, signal);
    return { detail: ['Text models are served on the GPUs', ...work.brokenGpus].join('. ') };
  },
};

/** Returns the messages about failing GPUs. Throws them as AppError('unavailable') if all GPUs fail. */
async function tryGpus({ services: { config, log }, signal }: Work, devices: number[]): Promise<string[]> {
  const broken = await probeGpus(config, devices, signal);
  if (broken.length === devices.length) throw unavailable(broken.join(' '));
  for (const sentence of broken) log.warn(sentence);
  return broken;
}

/**
 * Prepares the Python environment and the starter models in the background, step by step, so that each part
 * of the product works as soon as its requirements are met. A failed step reports why and is retried every
 * minute, because the cause may be fixed in the meantime.
 */
export function startPreparing(
  services: NeededServices,
  register: RegisterStarterModels,
): { stop: () => Promise<void> } {
  const aborting = new AbortController();
  const work: Work = { services, register, signal: aborting.signal, brokenGpus: null };
  const done = prepareAll(work).catch((error: unknown) => {
    if (!aborting.signal.aborted) services.log.error({ err: error }, 'preparation loop ended');
  });
  return {
    stop: async () => {
      aborting.abort();
      await done;
    },
  };
}

async function prepareAll(work: Work): Promise<void> {
  const { services, signal } = work;
  const prepared = new Set<PreparationId>();
  for (;;) {
    const hasGpus = await hasGpusToPrepare(services.config, services.log);
    const mayFindGpus = !haveListedAccelerators();
    const ids = preparationIds({ hasGpus }).filter((id) => !prepared.has(id));
    await prepareSteps(work, ids);
    if (!mayFindGpus) return;
    for (const id of ids) prepared.add(id);
    await sleep(RETRY_MS, undefined, { signal });
  }
}

async function prepareSteps(work: Work, ids: PreparationId[]): Promise<void> {
  const records = ids.map((id) => new PreparationRecord(work.services, id));
  for (const record of records)
    await recordPreparation(work, record, 'waiting', 'Waiting for the previous steps');
  for (const record of records) {
    while (!(await tryStep(work, record))) await sleep(RETRY_MS, undefined, { signal: work.signal });
  }
}

async function tryStep(work: Work, record: PreparationRecord): Promise<boolean> {
  try {
    const { detail, fingerprint } = await steps[record.id](work, await record.fingerprint(), record.progress);
    await record.set('ready', detail, 1, fingerprint);
    return true;
  } catch (error) {
    work.signal.throwIfAborted();
    work.services.log.warn({ err: error, preparation: record.id }, 'preparation step failed');
    const reason = error instanceof AppError ? error.publicMessage : `Failed: ${String(error)}`;
    await recordPreparation(work, record, 'failed', reason);
    return false;
  }
}

/** Records the state of a step; skipped while the database is unavailable, and the step continues. */
async function recordPreparation(
  { services }: Work,
  record: PreparationRecord,
  state: 'waiting' | 'failed',
  detail: string,
): Promise<void> {
  await record
    .set(state, detail, null)
    .catch((error: unknown) =>
      services.log.warn(
        { err: error, preparation: record.id },
        'failed to record the state of a preparation',
      ),
    );
}

/** Creates and registers a starter model in one format, unless its row shows that this was done. */
async function registerFormat(
  { services, register, signal }: Work,
  format: Format,
  done: string | null,
  onProgress: OnProgress,
  starter: PreparedStarter = 'language',
): Promise<string> {
  const wanted = `${path.basename(await starterModelDir(services.config, starter))}/${format}`;
  if (done === wanted) return wanted;
  const files = await ensureStarterModel(services.config, format, onProgress, signal, starter);
  onProgress('Storing the files', null);
  await register[starter](files);
  return wanted;
}

function scaled(onProgress: OnProgress, from: number, to: number): OnProgress {
  return (detail, progress) => onProgress(detail, progress === null ? null : from + progress * (to - from));
}
