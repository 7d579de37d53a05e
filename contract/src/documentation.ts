import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** Where a person reads how it works; the web app links to just these. */
export const getDocumentation = endpoint({
  method: 'GET',
  path: '/api/v1/documentation',
  access: 'public',
  summary: 'Get the documentation link',
  response: z.object({
    documentation_url: z.string(),
    /** Whether it is the one that this server serves itself, under `/docs`. */
    built_in: z.boolean(),
    /** Where its source code is; null where the operator names no place. */
    github_url: z.string().nullable(),
  }),
});
