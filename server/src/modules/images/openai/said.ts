import { deployedFields } from '@bakehouse/contract/generators/parameters/parameters';
import type { GenerationRequest } from '../../generations/start/generation-request.ts';

/** Our extensions to OpenAI's images API. */
export type Settings = Partial<Record<(typeof deployedFields)[number], number | null | undefined>>;

/** Returns the extension fields that a call sets. */
export function said(settings: Settings): GenerationRequest['parameters'] {
  return Object.fromEntries(
    deployedFields.flatMap((name) => {
      const value = settings[name];
      return value === undefined || value === null ? [] : [[name, value] as const];
    }),
  );
}
