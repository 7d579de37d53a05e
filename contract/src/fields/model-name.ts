import * as z from 'zod';

export const CALL_NAME_LENGTH_MAX = 200;

/** The requested `model`, in normalized Unicode, so that names that look the same are equal. */
export const modelName = z
  .string()
  .normalize('NFKC')
  .min(1, 'Name the model in `model`; GET /v1/models lists them')
  .max(CALL_NAME_LENGTH_MAX);
