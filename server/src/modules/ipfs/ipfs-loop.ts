import type { Services } from '../../platform/context.ts';
import {
  claimWork,
  createLeaseLoop,
  type LeasedWork,
  type LeaseLoop,
} from '../../platform/leases/lease-loop.ts';
import { addressRevision, revisionCidsTable } from './cids/address-revision.ts';
import { configuredServices } from './pins/configured-services.ts';
import { keepPin, type PinColumns, pinsTable } from './pins/keep-pin.ts';
import { openKubo } from './pins/kubo.ts';
import type { PinService } from './pins/pin-service.ts';
import { openPinningService } from './pins/pinning-service.ts';
import { insertMissingPins, isPinnedAtNode, type PinRow, type RevisionCidRow } from './queries.ts';

/** Revisions whose CIDs are computed at once: reading and hashing take a core. */
const ADDRESSED_AT_ONCE = 1;
/** Most of a pin's time is the service's. */
const PINNED_AT_ONCE = 3;

type IpfsWork = {
  cids: LeasedWork<RevisionCidRow, RevisionCidRow>;
  pins: LeasedWork<PinColumns, PinRow>;
};

/** Computes CIDs of revisions, and keeps the pins as they should be where services are configured. */
export function createIpfsLoop(services: Services): LeaseLoop {
  const work = ipfsWork(services);
  const cids = createLeaseLoop(services, { places: ADDRESSED_AT_ONCE, tables: [claimWork(work.cids)] });
  const pins = createLeaseLoop(services, { places: PINNED_AT_ONCE, tables: [claimWork(work.pins)] });
  const pinAt = configuredServices(services.config);
  if (pinAt.length === 0) return cids;
  return {
    start: async () => {
      await insertMissingPins(services.db, pinAt);
      await cids.start();
      await pins.start();
    },
    stop: async () => {
      await Promise.all([cids.stop(), pins.stop()]);
    },
  };
}

/** How a row of each table is worked on. */
export function ipfsWork(services: Services): IpfsWork {
  const pinServices = openPinServices(services);
  const pinAt = configuredServices(services.config);
  const table = pinsTable(pinAt);
  return {
    cids: {
      table: revisionCidsTable,
      work: (lease, signal) => addressRevision(services, { lease, pinAt, signal }),
    },
    pins: {
      table,
      work: (lease, signal) => keepPin({ services, table, pinServices }, lease, signal),
    },
  };
}

function openPinServices({ config: { ipfs }, db }: Services): PinService[] {
  if (!ipfs) return [];
  const node = openKubo(ipfs.kubo);
  if (!ipfs.pinning) return [node];
  return [node, openPinningService(ipfs.pinning, { node, isAtNode: (cid) => isPinnedAtNode(db, cid) })];
}
