import { type Generation, listGenerations } from '@bakehouse/contract/generations';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';

/** The server's page limit. */
const BATCH_MAX = 100;

type Asked = {
  userId: string;
  id: string;
  resolve: (generation: Generation | null) => void;
  reject: (error: unknown) => void;
};
let waiting: Asked[] = [];

/** Reads a generation for a small preview; null if it was deleted. Reads of all visible rows are batched. */
export const generationThumbnailQuery = (userId: string, id: string) => ({
  queryKey: ['generation', 'face', id] as const,
  queryFn: () => readTogether(userId, id),
});

/** Reads nothing without an id. */
export function useGenerationThumbnail(userId: string, id: string | null): Generation | null | undefined {
  return useQuery({ ...generationThumbnailQuery(userId, id ?? ''), enabled: id !== null }).data;
}

/** Batches the reads of one rendering into one call. */
function readTogether(userId: string, id: string): Promise<Generation | null> {
  return new Promise((resolve, reject) => {
    waiting.push({ userId, id, resolve, reject });
    if (waiting.length === 1) setTimeout(readWaiting);
  });
}

function readWaiting(): void {
  const asked = waiting;
  waiting = [];
  for (let from = 0; from < asked.length; from += BATCH_MAX)
    void readBatch(asked.slice(from, from + BATCH_MAX));
}

async function readBatch(asked: readonly Asked[]): Promise<void> {
  const [first] = asked;
  if (!first) return;
  const ids = [...new Set(asked.map(({ id }) => id))].join(',');
  try {
    const { generations } = await call(listGenerations, {
      params: { userId: first.userId },
      query: { ids, limit: BATCH_MAX },
    });
    for (const { id, resolve } of asked) resolve(generations.find((one) => one.id === id) ?? null);
  } catch (error) {
    for (const { reject } of asked) reject(error);
  }
}
