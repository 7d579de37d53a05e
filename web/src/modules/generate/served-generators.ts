import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type GeneratorName, listGenerators } from '@bakehouse/contract/generators';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';

/** A new server first prepares its own model. */
const UNSERVED_POLL_MS = 10_000;

export type ServedGenerator = ResponseOf<typeof listGenerators>['generators'][number];

/** Providers of each generator. Polled until one is served and none is being prepared. */
export const servedGeneratorsQuery = queryOptions({
  queryKey: ['generators'],
  queryFn: async ({ signal }): Promise<Record<GeneratorName, ServedGenerator>> => {
    const { generators } = await call(listGenerators, {}, { signal });
    return Object.fromEntries(generators.map((one) => [one.name, one])) as Record<
      GeneratorName,
      ServedGenerator
    >;
  },
  refetchInterval: ({ state: { data } }) =>
    data &&
    (Object.values(data).every((one) => one.served_by.length === 0) ||
      Object.values(data).some((one) => one.is_being_prepared))
      ? UNSERVED_POLL_MS
      : false,
});
