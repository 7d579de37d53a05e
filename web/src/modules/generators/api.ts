import { type GeneratorName, listGenerators, type Provider } from '@bakehouse/contract/generators';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';

export { GeneratorList } from './generator-list.tsx';

/** Who serves each generator; nobody where it has none. */
export const servedGeneratorsQuery = queryOptions({
  queryKey: ['generators'],
  queryFn: async ({ signal }): Promise<Record<GeneratorName, Provider[]>> => {
    const { generators } = await call(listGenerators, {}, { signal });
    return Object.fromEntries(generators.map(({ name, served_by }) => [name, served_by])) as Record<
      GeneratorName,
      Provider[]
    >;
  },
});
