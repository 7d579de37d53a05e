import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** Documentation links of the web app. */
export const getDocumentation = endpoint({
  method: 'GET',
  path: '/api/v1/documentation',
  access: 'public',
  summary: 'Get the documentation link',
  response: z.object({
    documentation_url: z.string(),
    /** True if this server serves the documentation under `/docs`. */
    built_in: z.boolean(),
    /** URL of the source code; null if none is configured. */
    github_url: z.string().nullable(),
  }),
});
