import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { fixedAmount, formatBgl } from '@bakehouse/contract/money';
import { type CpuMachine, findCpuMachine } from '../../../engine/machines/find-cpu-machine.ts';
import type { Database } from '../../../platform/db/database.ts';
import { quote } from '../../billing/prices/cost.ts';
import type { Price } from '../../billing/prices/prices.ts';
import { defaultCeilingMicro } from '../charges/ceiling.ts';
import type { RunPlace } from '../place-run.ts';
import { expectedSlowdown } from '../slowdown.ts';
import { runCostMicro, runItems } from './estimate-run.ts';

/** A smaller slowdown is measured even on an idle machine, so it is not mentioned. */
const NOTICEABLE = 1.2;

/** The CPU on which a run would train. */
export type RunCpu = {
  cores: number;
  memoryBytes: number;
  /** How many times longer than on an idle machine a run takes at the current load. */
  slowdown: number;
};

/**
 * Estimates the slowdown from the capacity and the runs that the machine reports. Before its first report,
 * `own` describes this computer.
 */
export async function estimateLoad(db: Database, own: Omit<CpuMachine, 'id'>): Promise<RunCpu> {
  const { cores, memoryBytes, load, slots, atWork } = (await findCpuMachine(db)) ?? own;
  return { cores, memoryBytes, slowdown: expectedSlowdown(load, { atWork, slots }) };
}

/** Returns the sentence about CPU load in an estimate. */
function describeLoad(slowdown: number): string {
  if (slowdown < NOTICEABLE) {
    return 'Estimated for the current load: this machine is mostly idle. If it gets busier, the run takes longer and costs more.';
  }
  const times = slowdown < 3 ? slowdown.toFixed(1) : String(Math.round(slowdown));
  return `Estimated for the current load: this machine is busy, so the run takes about ${times} times as long as on an idle one. It costs less if the other work ends sooner.`;
}

/** Returns the cost estimate of a run with this duration, for the wizard. */
export function toCostEstimate(
  { gpu, devices, priceLabel }: RunPlace,
  price: Price,
  seconds: number,
  slowdown: number,
): FineTuneValidation['cost_estimate'] {
  const costMicro = runCostMicro(price, seconds, devices);
  return {
    usd_cost: fixedAmount(costMicro, 'USD'),
    duration_hours: seconds / 3600,
    token_cost: fixedAmount(costMicro, 'BGL'),
    quote: quote(runItems(price, seconds, devices, priceLabel)),
    ceiling: formatBgl(defaultCeilingMicro(costMicro)),
    slowdown: gpu === null ? slowdown : 1,
    load: gpu === null ? describeLoad(slowdown) : null,
  };
}
