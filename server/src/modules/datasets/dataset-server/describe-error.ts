import type { hubError } from '@bakehouse/contract/hub/shared';
import type { z } from 'zod';
import type { AppError } from '../../../platform/errors.ts';
import type { DescribeError } from '../../../platform/http/bind.ts';

/** What clients of the hub's dataset server tell errors by, and its status for each where that is not ours. */
type ServerError = { code: string; status?: number };

/** Writes an error as the hub's dataset server does: its code in a header, and the words in the body. */
export const describeDatasetServerError: DescribeError = (error, { reply }): z.infer<typeof hubError> => {
  const found = classify(error);
  if (found) reply.header('x-error-code', found.code);
  if (found?.status !== undefined) reply.code(found.status);
  return { error: error.publicMessage };
};

function classify({ code, param, publicMessage }: AppError): ServerError | null {
  if (code === 'unauthenticated') return { code: 'ExternalUnauthenticatedError' };
  // A split or config that a dataset does not have is an answer that is not there.
  if (code === 'not_found')
    return { code: param === 'dataset' ? 'ExternalAuthenticatedError' : 'ResponseNotFound' };
  if (param === 'config') return { code: 'ResponseNotFound', status: 404 };
  if (code === 'invalid_request') {
    const isMissing = / (is|are) required$/.test(publicMessage);
    return { code: isMissing ? 'MissingRequiredParameter' : 'InvalidParameter', status: 422 };
  }
  if (code === 'unavailable' || code === 'timed_out') return { code: 'ResponseNotReady' };
  return code === 'internal' ? { code: 'UnexpectedApiError' } : null;
}
