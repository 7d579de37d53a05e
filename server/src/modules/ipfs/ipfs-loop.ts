import type { Services } from '../../platform/context.ts';
import {
  type ClaimNext,
  claimWork,
  createLeaseLoop,
  type LeasedWork,
  type LeaseLoop,
} from '../../platform/leases/lease-loop.ts';
import { addressRevision, revisionCidsTable } from './cids/addresses.ts';
import { openKubo } from './pins/kubo.ts';
import { configuredServices, type PinService } from './pins/pin-service.ts';
import { openPinningService } from './pins/pinning-service.ts';
import { type PinColumns, pinsTable, reconcilePin } from './pins/reconcile-pin.ts';
import { insertMissingPins, isPinnedAtNode, type PinRow, type RevisionCidRow } from './queries.ts';

/** Maximum concurrent CID computations. Each one uses a whole core. */
const ADDRESSED_AT_ONCE = 1;

/** Maximum concurrent pin updates. They mostly wait for the service. */
const PINNED_AT_ONCE = 3;

type IpfsWork = {
  cids: LeasedWork<RevisionCidRow, RevisionCidRow>;
  pins: LeasedWork<PinColumns, PinRow>;
};

/** Creates the loop that computes the CIDs of revisions and their files. */
export function createCidLoop(services: Services): LeaseLoop {
  const claim = claimWork(services, ipfsWork(services).cids);
  return createLeaseLoop(services, { name: 'cids', places: ADDRESSED_AT_ONCE, claim });
}

/** Creates the loop that maintains pins at the configured services; does nothing if there are none. */
export function createPinLoop(services: Services): LeaseLoop {
  const pinAt = configuredServices(services.config);
  const claimPin = claimWork(services, ipfsWork(services).pins);
  let isComplete = false;
  const claim: ClaimNext = async (running) => {
    if (pinAt.length === 0) return null;
    // The operator may have configured another service before this start.
    if (!isComplete) await insertMissingPins(services.db, pinAt);
    isComplete = true;
    return claimPin(running);
  };
  return createLeaseLoop(services, { name: 'pins', places: PINNED_AT_ONCE, claim });
}

/** Returns the leased work on revisions' CIDs and on pins. */
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
      work: (lease, signal) => reconcilePin({ services, table, pinServices }, lease, signal),
    },
  };
}

function openPinServices({ config: { ipfs }, db }: Services): PinService[] {
  if (!ipfs) return [];
  const node = openKubo(ipfs.kubo);
  if (!ipfs.pinning) return [node];
  return [node, openPinningService(ipfs.pinning, { node, isAtNode: (cid) => isPinnedAtNode(db, cid) })];
}
