import * as contract from '@bakehouse/contract/error-reports';
import { type Binding, bind } from '../http/bind.ts';
import type { ErrorReports } from './error-reports.ts';

/** Receives reports from browsers, because browsers may only connect to this server. */
export const errorReportRoutes = (reports: ErrorReports): Binding[] => [
  bind(
    contract.reportError,
    async ({ caller }, { body: { name, message, stack, path, kind } }) => {
      reports.report({
        platform: 'javascript',
        errors: [{ name, message, stack }],
        userId: caller.userId,
        tags: { kind, path },
      });
      return { taken: reports.isOn };
    },
    { callsPerMinute: 10 },
  ),
];
