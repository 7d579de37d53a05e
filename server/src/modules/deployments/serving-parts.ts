import type { Capacity } from '../../engine/queue/queue.ts';
import type { RecallPrices } from '../credits/prices/recall-prices.ts';
import type { UsageLeader } from '../credits/usage/usage-leader.ts';
import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import type { KeepRequest } from '../chat/requests/keep-requests.ts';
import type { GatewayPresence } from '../chat/upstream/gateway-presence.ts';
import type { SlotsByAddress } from '../chat/upstream/prompt-slots.ts';
import type { RecallUpstream } from '../chat/upstream/recall-upstreams.ts';
import type { ReplicaScaling } from '../chat/upstream/replicas/replica-scaling.ts';
import type { ServerTurns } from '../chat/upstream/server-turns.ts';

/** What this module takes from the program around it. */
export type ServingParts = {
  /** The slots of the driver's machines. */
  capacity: () => Promise<Capacity>;
  presence: GatewayPresence;
  /** The usage windows of this process. */
  usage: UsageLeader;
  keepRequest: KeepRequest;
  recallUpstream: RecallUpstream;
  recallPrices: RecallPrices;
  replicas: ReplicaScaling;
  turns: ServerTurns;
  /** What the caches of the model servers hold, as far as this process knows. */
  slots: SlotsByAddress;
};

/** What waking a model takes of them. */
export type WakingParts = Pick<ServingParts, 'capacity'> & { usage: IdleCredit };
