import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import type { ReadCapacity } from '../serving/served-model.ts';

/** Dependencies for waking a model. */
export type WakingParts = ReadCapacity & { usage: IdleCredit };
