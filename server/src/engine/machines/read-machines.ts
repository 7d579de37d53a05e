import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { gpuLabel } from '@bakehouse/contract/labels';
import type { listMachines as listMachinesEndpoint, Machine } from '@bakehouse/contract/machines';
import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { Driver } from '../drivers/driver.ts';
import { type EnvironmentSettings, specKinds } from '../host/environment/environment.ts';
import { hasGpusToPrepare, machineAccelerators, servesTextOnGpus } from '../host/machine-accelerators.ts';
import { machineCpu } from '../host/machine-cpu.ts';
import { listPreparations } from '../host/preparation/preparation-record.ts';
import type { Capacity } from '../model/capacity.ts';
import type { Gpu } from '../model/gpu.ts';
import { type Offer, specName } from '../model/offer.ts';
import type { Listening, Span } from '../model/span.ts';
import type { StartTrouble } from '../reconcile/start-watch.ts';
import { BREAK_MS } from './heartbeat-loop.ts';
import { installationCapacity } from './join-installation.ts';
import { listMachines, listUptimes } from './queries.ts';

type Answer = ResponseOf<typeof listMachinesEndpoint>;

/** Returns the machine of the installation and its cluster, for operators. */
export async function readMachines({ db }: { db: Database }): Promise<Answer> {
  const machines = await listMachines(db);
  return {
    machines: machines.map(({ id, name, driver, isPresent, offer, seen_at, started_at }) => ({
      machine_id: id,
      name,
      driver,
      is_present: isPresent,
      last_seen_at: seen_at?.toISOString() ?? null,
      started_at: started_at.toISOString(),
      trouble: offer?.trouble ?? null,
      offer: offer && toOffer(offer),
    })),
  };
}

function toOffer({ capacity, cpu }: Offer): Answer['machines'][number]['offer'] {
  return {
    cpu,
    run_slots: capacity['cpu:run'] ?? 0,
    deployment_slots: capacity['cpu:deployment'] ?? 0,
    accelerators: toAccelerators(capacity),
  };
}

/** Converts GPUs to the API format: the most of each type on one machine, since workloads use one. */
function toAccelerators({ gpus = [] }: Capacity): Machine['accelerators'] {
  const most = new Map<string, Gpu>();
  for (const gpu of gpus) {
    if (gpu.devices.length > (most.get(gpu.type)?.devices.length ?? 0)) most.set(gpu.type, gpu);
  }
  return [...most.values()].map(({ type, memoryBytes, devices }) => ({
    gpu_type: type,
    label: gpuLabel(type),
    memory_bytes: memoryBytes,
    count: devices.length,
  }));
}

/** Returns the resources of the machine and its cluster, and the machine's preparation steps. */
export async function readMachine({
  config,
  db,
  log,
}: {
  config: EnvironmentSettings & Pick<Config, 'prepare'>;
  db: Database;
  log: Logger;
}): Promise<Machine> {
  const gpus = await machineAccelerators(config, log);
  const capacity = await installationCapacity(db, async () => ({
    gpus,
    servesTextOnGpus: await servesTextOnGpus(config, log),
  }));
  return {
    accelerators: toAccelerators(capacity),
    serves_text_on_gpus: capacity.servesTextOnGpus ?? false,
    cpu: machineCpu(),
    preparations: await listPreparations({ config, db }, { hasGpus: await hasGpusToPrepare(config, log) }),
  };
}

/** Reads the complete offer from a driver. */
export async function readOffer(
  driver: Driver,
  machine: Required<Pick<Offer, 'cpu' | 'load'>>,
  trouble: StartTrouble | null = null,
): Promise<Offer> {
  const rest = trouble?.isResting ? trouble.sentence : null;
  const blockers = await Promise.all(
    specKinds.map(async (spec) => [specName(spec), rest ?? (await driver.blocker(spec))] as const),
  );
  return {
    capacity: await driver.capacity(),
    admission: driver.admission,
    blockers: Object.fromEntries(blockers),
    trouble: trouble?.sentence ?? null,
    ...machine,
  };
}

/**
 * Returns the periods in which reports of a workload with this `serverUrl` could be accepted; null before the
 * first heartbeat. If no process has that URL, it belongs to a proxy for all of them.
 */
export async function findListening(
  db: Database | Transaction,
  serverUrl: string | null,
): Promise<Listening | null> {
  const uptimes = await listUptimes(db);
  const anywhere = newestGaplessSpan(uptimes);
  return (
    anywhere && {
      anywhere,
      there: newestGaplessSpan(uptimes.filter(({ url }) => url === serverUrl)) ?? anywhere,
    }
  );
}

/** Returns the newest gapless period that the spans cover together. */
export function newestGaplessSpan(spans: Span[]): Span | null {
  const [newest, ...earlier] = spans.toSorted((a, b) => b.until.getTime() - a.until.getTime());
  if (!newest) return null;
  let { since } = newest;
  for (const span of earlier) {
    if (since.getTime() - span.until.getTime() > BREAK_MS) break;
    if (span.since < since) since = span.since;
  }
  return { since, until: newest.until };
}
