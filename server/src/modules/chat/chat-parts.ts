import type { RecallPrices } from '../billing/prices/read-prices.ts';
import type { UsageLeader } from '../billing/usage/usage-leader.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import type { ReadCapacity } from '../serving/served-model.ts';
import type { RecordChatRequest } from './requests/batch-request-inserts.ts';
import type { RecallUpstream } from './upstream/create-upstream-cache.ts';
import type { GatewayPresence } from './upstream/gateway-presence.ts';
import type { SlotsByAddress } from './upstream/prompt-slots.ts';
import type { ReplicaScaling } from './upstream/replicas/replica-scaling.ts';
import type { UnreachableServers } from './upstream/replicas/replicas.ts';
import type { ServerTurns } from './upstream/server-turns.ts';

/** Services that the chat module needs from the app. */
export type ChatParts = ReadCapacity & {
  presence: GatewayPresence;
  /** The usage windows of this process. */
  usage: Pick<UsageLeader, 'reserve'> & IdleCredit;
  insertRequest: RecordChatRequest;
  recallUpstream: RecallUpstream;
  recallPrices: RecallPrices;
  replicas: ReplicaScaling;
  turns: ServerTurns;
  unreached: UnreachableServers;
  /** This process's knowledge of the contents of the model servers' prompt caches. */
  slots: SlotsByAddress;
};
