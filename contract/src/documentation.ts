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
    /** Whether this server hosts it under `/docs`. */
    built_in: z.boolean(),
    /** Source code; null if not configured. */
    github_url: z.string().nullable(),
  }),
});
