import * as z from 'zod';

export const countOfGpus = z.union(
  [z.literal(1), z.literal(2), z.literal(4), z.literal(8)],
  'Please select a valid number of GPUs (1, 2, 4, or 8)',
);
