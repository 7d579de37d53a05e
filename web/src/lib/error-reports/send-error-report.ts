import type { CallOf } from '@bakehouse/contract/endpoint';
import { ERROR_REPORT_MAX, reportError } from '@bakehouse/contract/error-reports';

const TIMEOUT_MS = 10_000;

type Body = CallOf<typeof reportError>['body'];

export type ErrorReport = Required<Omit<Body, 'path'>>;

/**
 * Sends a report, truncated to the server's limits. Resolves to false if the server wants no more. Doesn't
 * use `call`, because a rejected report must not invalidate the API key.
 */
export async function sendErrorReport(report: ErrorReport): Promise<boolean> {
  const { name, message, stack, path } = ERROR_REPORT_MAX;
  const body: Body = {
    kind: report.kind,
    name: report.name.slice(0, name),
    message: report.message.slice(0, message),
    stack: report.stack.slice(0, stack),
    path: location.pathname.slice(0, path),
  };
  const answer = await fetch(reportError.path, {
    method: reportError.method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    keepalive: true,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return !answer.ok || ((await answer.json()) as { taken: boolean }).taken;
}
