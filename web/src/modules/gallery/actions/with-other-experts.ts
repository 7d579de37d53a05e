import type { Generation, GenerationParameters } from '@bakehouse/contract/generations';

export type Strategy = 'top1' | 'topk' | 'full';

type Choice = {
  strategy: Strategy;
  /** Number of experts for `topk`. */
  k: number;
  sameSeed: boolean;
};

/** Returns the parameters of a Paris picture with other experts. */
export function withOtherExperts(
  { parameters, seed }: Pick<Generation, 'parameters' | 'seed'>,
  { strategy, k, sameSeed }: Choice,
): GenerationParameters {
  const experts = { top1: 1, topk: k, full: 8 };
  return { ...parameters, sampling_strategy: strategy, k: experts[strategy], seed: sameSeed ? seed : null };
}
