import { adapterFieldWith, FULL_REWARD_MODEL } from '@bakehouse/contract/fine-tune-numbers';
import type { FineTunePayload } from '@bakehouse/contract/training';
import type { FineTuneFields } from '../fine-tune-spec.ts';

/** What only an adapter has. */
const ADAPTER_FIELDS = [
  'lora_r',
  'lora_alpha',
  'lora_dropout',
  'use_rslora',
  'lora_target_modules',
] as const satisfies (keyof FineTunePayload)[];

/** What was sent of an adapter where all weights are trained. Pure. */
export function findAdaptationFaults(
  fields: Pick<FineTuneFields, 'adaptation' | 'objective' | (typeof ADAPTER_FIELDS)[number]>,
): { message: string; about: keyof FineTunePayload }[] {
  if (fields.adaptation !== 'full') return [];
  if (fields.objective === 'reward') return [{ message: FULL_REWARD_MODEL, about: 'adaptation' }];
  return ADAPTER_FIELDS.filter((name) => fields[name] !== undefined).map((name) => ({
    message: adapterFieldWith(name),
    about: name,
  }));
}
