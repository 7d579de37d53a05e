import * as z from 'zod';

export const HUB_MODEL_ID_LENGTH_MAX = 200;

const MESSAGE = 'Hub model must be written as owner/name';

/** The name of a model on the public hub. */
export const hubModelId = z
  .string()
  .trim()
  .max(HUB_MODEL_ID_LENGTH_MAX, MESSAGE)
  .regex(/^[\w.-]+\/[\w.-]+$/, MESSAGE);
