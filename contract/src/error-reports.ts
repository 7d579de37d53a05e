import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { only } from './fields/only.ts';
import { tooLong } from './labels.ts';

/** Maximum characters of the parts of a report. Clients truncate longer ones. */
export const ERROR_REPORT_MAX = { name: 100, message: 1_000, stack: 8_000, path: 300 } as const;

const text = (part: keyof typeof ERROR_REPORT_MAX) =>
  z.string().max(ERROR_REPORT_MAX[part], tooLong(part, ERROR_REPORT_MAX[part]));

export const reportError = endpoint({
  method: 'POST',
  path: '/api/v1/error-reports',
  access: 'key_or_session',
  summary: 'Report an error of the web app',
  bodyBytesMax: 40 * 1024,
  body: only({
    /** `dataset` if a dataset or model could not be read or written; `unhandled` for uncaught errors. */
    kind: z.enum(['dataset', 'unhandled']),
    name: text('name'),
    message: text('message'),
    stack: text('stack').default(''),
    /** Path of the page, without its query. */
    path: text('path'),
  }),
  response: z.object({
    /** False if no service is configured. Clients then stop sending reports. */
    taken: z.boolean(),
  }),
});
