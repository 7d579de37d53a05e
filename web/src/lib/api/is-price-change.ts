import { ApiError } from './api-error.ts';

/**
 * Returns true if the server rejected an action because it now costs more than shown. Nothing was started or
 * held.
 */
export function isPriceChange(error: unknown): boolean {
  return error instanceof ApiError && /(^|\.)cost_max$/.test(error.param ?? '');
}
