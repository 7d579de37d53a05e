import * as z from 'zod';

export const CALL_NAME_LENGTH_MAX = 200;

/** What a call asks for as `model`. The same letters are one name, however a keyboard or a file system writes them. */
export const modelName = z
  .string()
  .normalize('NFKC')
  .min(1, 'Name the model in `model`; GET /v1/models lists them')
  .max(CALL_NAME_LENGTH_MAX);
