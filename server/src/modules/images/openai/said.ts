import { deployedFields } from '@bakehouse/contract/generators/parameters/parameters';
import type { GenerationRequest } from '../../generations/start/generation-request.ts';

/** What calls of OpenAI's images API say beside what that knows itself. */
export type Settings = Partial<Record<(typeof deployedFields)[number], number | null | undefined>>;

/** The settings that a call has. Pure. */
export function said(settings: Settings): GenerationRequest['parameters'] {
  return Object.fromEntries(
    deployedFields.flatMap((name) => {
      const value = settings[name];
      return value === undefined || value === null ? [] : [[name, value] as const];
    }),
  );
}
