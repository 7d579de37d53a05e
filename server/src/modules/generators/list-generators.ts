import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type listGenerators as endpoint, generatorNames } from '@bakehouse/contract/generators';

/** Every generator. Nothing draws pictures or films on this server, so none of them is served. */
export function listGenerators(): ResponseOf<typeof endpoint> {
  return { generators: generatorNames.map((name) => ({ name, served_by: [] })) };
}
