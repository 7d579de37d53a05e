import * as z from 'zod';

/** Settings for processes that run as replicas, such as the pods of a cluster. */
export const replicaSettings = {
  /** Socket of the reader for uploads; `none` reads them in this process, even without a sandbox. */
  BAKEHOUSE_READER: z
    .string()
    .regex(/^(none|\/.+)$/, 'must be the path of a socket, or none')
    .optional(),
  /** How long a terminating process finishes open requests while other processes serve new ones. */
  BAKEHOUSE_DRAIN_SECONDS: z.coerce.number().min(0).max(1800).default(20),
};

/** Returns the replica settings. */
export function replicaOf(s: z.output<z.ZodObject<typeof replicaSettings>>) {
  return { reader: s.BAKEHOUSE_READER ?? null, drainSeconds: s.BAKEHOUSE_DRAIN_SECONDS };
}
