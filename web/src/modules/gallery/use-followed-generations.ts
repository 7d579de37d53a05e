import type { Generation } from '@bakehouse/contract/generations';
import { useQueries } from '@tanstack/react-query';
import { generationQuery, useRecentGenerations } from './generation-queries.ts';
import { isUnderWay } from './generation-sentences.ts';

/** Recent generations; each unfinished one is read separately, so that a step does not reload a list. */
export function useFollowedGenerations(userId: string | undefined): Generation[] {
  const recent = useRecentGenerations(userId);
  useQueries({ queries: recent.filter(isUnderWay).map(({ id }) => generationQuery(id)) });
  return recent;
}
