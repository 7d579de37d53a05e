import * as z from 'zod';
import { userId } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { only } from './fields/only.ts';

/** Licences that users must accept before they deploy the models. */
const licenceNames = ['flux-1-dev-non-commercial'] as const;
export type LicenceName = (typeof licenceNames)[number];

export const licence = z.object({
  licence: z.enum(licenceNames),
  title: z.string(),
  /** Accepting a licence accepts only this version. */
  version: z.string(),
  /** URL of the licence's text. */
  url: z.string(),
  /** A non-binding summary. */
  summary: z.array(z.string()),
  /** When the caller accepted this version; null if not. */
  accepted_at: z.string().nullable(),
});

export type Licence = z.infer<typeof licence>;

/** What each licence says. */
export const licences: Record<LicenceName, Omit<Licence, 'accepted_at' | 'licence'>> = {
  'flux-1-dev-non-commercial': {
    title: 'FLUX.1 [dev] Non-Commercial License',
    version: '1.1.1',
    url: 'https://huggingface.co/black-forest-labs/FLUX.1-Kontext-dev/blob/main/LICENSE.md',
    summary: [
      'The model and its derivatives are for non-commercial use only: research, testing, personal projects.',
      'Commercial use needs a separate license from Black Forest Labs.',
      'You are responsible for the pictures you make, and may not train a competing model on them.',
      'Unlawful content must be filtered or reviewed.',
    ],
  },
};

export const listLicences = endpoint({
  method: 'GET',
  path: '/api/v1/licences',
  access: 'key',
  summary: 'List model licenses and which ones you have accepted',
  response: z.object({ licences: z.array(licence) }),
});

export const acceptLicence = endpoint({
  method: 'POST',
  path: '/api/v1/licences/accept',
  access: 'key',
  summary: 'Accept a license version',
  body: only({
    user_id: userId,
    licence: z.enum(licenceNames, `licence must be one of ${licenceNames.join(', ')}`),
    /** Rejected with a conflict if a newer version exists. */
    version: z.string().min(1).max(50),
  }),
  response: licence,
});
