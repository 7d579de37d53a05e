import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import type { ReadCapacity } from '../serving/served-model.ts';

/** What waking a model takes from the program around it. */
export type WakingParts = ReadCapacity & { usage: IdleCredit };
