import type { Generation } from '@bakehouse/contract/generations';
import { useQueries } from '@tanstack/react-query';
import { generationQuery, useRecentGenerations } from './generation-queries.ts';
import { isUnderWay } from './generation-sentences.ts';

/** The recent ones, of which each that is under way is read by itself as it goes on, so that no list is read for a step. */
export function useFollowedGenerations(userId: string | undefined): Generation[] {
  const recent = useRecentGenerations(userId);
  useQueries({ queries: recent.filter(isUnderWay).map(({ id }) => generationQuery(id)) });
  return recent;
}
