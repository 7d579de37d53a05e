import { ApiError } from './api-error.ts';

/** Whether something was refused since it costs more by now than was shown. Nothing was begun or held. */
export function isPriceChange(error: unknown): boolean {
  return error instanceof ApiError && /(^|\.)cost_max$/.test(error.param ?? '');
}
