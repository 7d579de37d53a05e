import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { gpuLabel } from '@bakehouse/contract/labels';
import type { listMachines as listMachinesEndpoint, Machine } from '@bakehouse/contract/machines';
import type { Database } from '../../platform/db/database.ts';
import type { Capacity } from '../model/capacity.ts';
import type { Gpu } from '../model/gpu.ts';
import type { Offer } from '../model/offer.ts';
import { listMachines } from './queries.ts';

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
export function toAccelerators({ gpus = [] }: Capacity): Machine['accelerators'] {
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
