import type { Driver } from './engine/drivers/driver.ts';
import { installationCapacity } from './engine/machines/join-installation.ts';
import { createPriceCache } from './modules/billing/prices/read-prices.ts';
import type { UsageLeader } from './modules/billing/usage/usage-leader.ts';
import type { ChatParts } from './modules/chat/chat-parts.ts';
import { batchRequestInserts } from './modules/chat/requests/batch-request-inserts.ts';
import { createUpstreamCache } from './modules/chat/upstream/create-upstream-cache.ts';
import type { GatewayPresence } from './modules/chat/upstream/gateway-presence.ts';
import { promptSlotsByServer } from './modules/chat/upstream/prompt-slots.ts';
import { replicaScaling } from './modules/chat/upstream/replicas/replica-scaling.ts';
import { trackUnreachableServers } from './modules/chat/upstream/replicas/replicas.ts';
import { type ServerShares, serverTurns } from './modules/chat/upstream/server-turns.ts';
import { PARALLEL_REQUESTS } from './modules/serving/text-spec.ts';
import type { Services } from './platform/context.ts';

type Parts = {
  services: Services;
  driver: Driver;
  usage: UsageLeader;
  presence: GatewayPresence;
  shares: ServerShares;
};

/** Creates the state that text-model calls and batches in this process share. */
export function openChat({ services, driver, usage, presence, shares }: Parts): ChatParts {
  const capacity = () => installationCapacity(services.db, driver.capacity);
  return {
    capacity,
    presence,
    usage,
    insertRequest: batchRequestInserts(services),
    recallUpstream: createUpstreamCache(services.rowChanges),
    recallPrices: createPriceCache(services),
    replicas: replicaScaling({ capacity }),
    turns: serverTurns(shares),
    unreached: trackUnreachableServers(),
    slots: promptSlotsByServer(PARALLEL_REQUESTS.llamacpp),
  };
}
