import { adapterFieldWith, DORA_IN_4_BITS, headWith } from '@bakehouse/contract/fine-tune-numbers';
import type { FineTunePayload } from '@bakehouse/contract/training';
import type { FineTuneFields } from '../fine-tune-spec.ts';

/** Fields that only apply to adapters. */
const ADAPTER_FIELDS = [
  'lora_r',
  'lora_alpha',
  'lora_dropout',
  'use_rslora',
  'use_dora',
  'lora_target_modules',
] as const satisfies (keyof FineTunePayload)[];

/** Returns adapter fields that were sent for full fine-tuning, and fields incompatible with 4 bits. */
export function findAdaptationFaults(
  fields: Pick<FineTuneFields, 'adaptation' | (typeof ADAPTER_FIELDS)[number]>,
): { message: string; about: keyof FineTunePayload }[] {
  if (fields.adaptation === 'qlora') return findFaultsIn4Bits(fields);
  if (fields.adaptation !== 'full') return [];
  return ADAPTER_FIELDS.filter((name) => fields[name] !== undefined).map((name) => ({
    message: adapterFieldWith(name),
    about: name,
  }));
}

function findFaultsIn4Bits({
  use_dora,
  lora_target_modules: modules = [],
}: Pick<FineTuneFields, 'use_dora' | 'lora_target_modules'>): ReturnType<typeof findAdaptationFaults> {
  const faults: ReturnType<typeof findAdaptationFaults> = [];
  if (use_dora) faults.push({ message: DORA_IN_4_BITS, about: 'use_dora' });
  if (modules.includes('lm_head')) faults.push({ message: headWith('sft'), about: 'lora_target_modules' });
  return faults;
}
