import { type GeneratorName, listGenerators, type Provider } from '@bakehouse/contract/generators';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';

export { GeneratorList } from './generator-list.tsx';

/** A new installation prepares its own model first. */
const UNSERVED_POLL_MS = 10_000;

/** Who serves each generator; nobody where it has none. It is read again until there is one that is served. */
export const servedGeneratorsQuery = queryOptions({
  queryKey: ['generators'],
  queryFn: async ({ signal }): Promise<Record<GeneratorName, Provider[]>> => {
    const { generators } = await call(listGenerators, {}, { signal });
    return Object.fromEntries(generators.map(({ name, served_by }) => [name, served_by])) as Record<
      GeneratorName,
      Provider[]
    >;
  },
  refetchInterval: ({ state: { data } }) =>
    data && Object.values(data).every((servedBy) => servedBy.length === 0) ? UNSERVED_POLL_MS : false,
});
