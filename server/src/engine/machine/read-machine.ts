import { availableParallelism, totalmem } from 'node:os';
import { gpuLabel } from '@bakehouse/contract/limits';
import type { Machine } from '@bakehouse/contract/machine';
import type { Database } from '../../platform/db/database.ts';
import type { Gpu } from '../gpu.ts';
import { findAccelerators } from './accelerators.ts';
import type { EnvironmentSettings } from './environment.ts';
import { hasVllm } from './has-vllm.ts';
import { type PreparationId, preparationIds, preparationLabels } from './preparation-ids.ts';
import { findPreparation, listPreparations } from './queries.ts';

let accelerators: Promise<Gpu[]> | null = null;

/** The GPUs of this machine, asked for once: they do not change while we run. */
export function machineAccelerators(): Promise<Gpu[]> {
  accelerators ??= findAccelerators();
  return accelerators;
}

/** Whether text is served on this machine's GPUs. */
export async function servesTextOnGpus(settings: EnvironmentSettings): Promise<boolean> {
  return (await machineAccelerators()).length > 0 && (await hasVllm(settings));
}

/** What this machine has, and what the server is still preparing. */
export async function readMachine({
  config,
  db,
}: {
  config: EnvironmentSettings;
  db: Database;
}): Promise<Machine> {
  const rows = new Map((await listPreparations(db)).map((row) => [row.id, row]));
  return {
    accelerators: (await machineAccelerators()).map((gpu) => ({
      gpu_type: gpu.type,
      label: gpuLabel(gpu.type),
      memory_bytes: gpu.memoryBytes,
      count: gpu.devices.length,
    })),
    serves_text_on_gpus: await servesTextOnGpus(config),
    cpu: { cores: availableParallelism(), memory_bytes: memoryBytes() },
    preparations: preparationIds.map((id) => {
      const row = rows.get(id);
      return {
        id,
        label: preparationLabels[id],
        state: row?.state ?? 'waiting',
        detail: row?.detail ?? '',
        progress: row?.progress ?? null,
      };
    }),
  };
}

/** Whether a preparation has been finished; work that needs it waits until then. */
export async function isPrepared({ db }: { db: Database }, id: PreparationId): Promise<boolean> {
  return (await findPreparation(db, id))?.state === 'ready';
}

/** What the container may use, where there is one, else what the machine has. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
