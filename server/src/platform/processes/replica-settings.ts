import * as z from 'zod';

/** Settings of processes that stand beside others of their kind, as the pods of a cluster do. */
export const replicaSettings = {
  /** The socket of the reader, which reads what strangers upload instead of this process; `none`: this one does, even where nothing separates them. */
  BAKEHOUSE_READER: z
    .string()
    .regex(/^(none|\/.+)$/, 'must be the path of a socket, or none')
    .optional(),
  /** How long a process that is told to end finishes answers that it has begun, while others take what comes. */
  BAKEHOUSE_DRAIN_SECONDS: z.coerce.number().min(0).max(1800).default(20),
};

/** What they say. */
export function replicaOf(s: z.output<z.ZodObject<typeof replicaSettings>>) {
  return { reader: s.BAKEHOUSE_READER ?? null, drainSeconds: s.BAKEHOUSE_DRAIN_SECONDS };
}
