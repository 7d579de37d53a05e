import type { ErrorReports } from './error-reports.ts';
import { causesOf } from './to-event.ts';

/**
 * Log fields to include in a report, because they contain no user data. `path` is always the path of a route;
 * the name of a user's file is logged as `file`.
 */
const TAGS = ['job', 'job_id', 'attempt', 'part', 'path', 'request_id', 'workload_id', 'kind'];

/** Reports an error that was just logged: a call answered with 500, or a failed job. */
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
