import type { ErrorReports } from './error-reports.ts';
import { causesOf } from './to-event.ts';

/**
 * Fields of a log line that a report includes: none of them comes from a person. `path` is always a route's; a user's
 * file name is logged as `file`.
 */
const TAGS = ['job', 'job_id', 'attempt', 'part', 'path', 'request_id', 'workload_id', 'kind'];

/** Reports an error that was logged as one: a call that was answered with 500, a job that failed. */
export function reportLogged(
  reports: ErrorReports,
  fields: Record<string, unknown>,
  message: string | undefined,
): void {
  if (!reports.isOn || fields.err === undefined) return;
  const tags = Object.fromEntries(
    TAGS.flatMap((tag) => {
      const value = fields[tag];
      return typeof value === 'string' || typeof value === 'number' ? [[tag, String(value)]] : [];
    }),
  );
  reports.report({
    platform: 'node',
    errors: causesOf(fields.err),
    userId: typeof fields.user_id === 'string' ? fields.user_id : undefined,
    tags: { ...tags, ...(message !== undefined && { logged: message }) },
  });
}
