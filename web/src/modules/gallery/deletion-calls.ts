import { deleteGeneration, type Generation } from '@bakehouse/contract/generations';
import { generators } from '@bakehouse/contract/generators/table';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { countOf } from '../../lib/format/count-of.ts';
import { refetchRows } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { errorMessage, notify } from '../../ui/notify.ts';
import { type GenerationPages, generationQuery, LISTS, mapGenerations } from './generation-queries.ts';

export function useDeleteGeneration() {
  return useMutation({
    mutationFn: ({ id }: Generation) => call(deleteGeneration, { params: { id } }),
    onSuccess: (_, { id, generator }) => {
      notify.success(`${generators[generator].title} generation deleted successfully`);
      removeFromLists(id);
      refetchRows(LISTS, [id]);
    },
    meta: { title: 'Failed to delete generation' },
  });
}

/** Counts pictures; a generation may have several. */
export function countPictures(generations: readonly Pick<Generation, 'outputs'>[]): number {
  return generations.reduce((sum, { outputs }) => sum + outputs.length, 0);
}

/** Maximum number of concurrent deletions. */
const DELETED_AT_ONCE = 4;

/** Deletes generations and reports how many failed; those stay selected. The others disappear. */
export function useDeleteGenerations() {
  return useMutation({
    mutationFn: async (generations: readonly Generation[]) => {
      const waiting = [...generations];
      const kept: Generation[] = [];
      let failure: unknown;
      const work = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          try {
            await deleteOne(next.id);
          } catch (error) {
            kept.push(next);
            failure ??= error;
          }
        }
      };
      await Promise.all(Array.from({ length: DELETED_AT_ONCE }, work));
      return { kept, failure };
    },
    onSuccess: ({ kept, failure }, generations) => {
      for (const generation of generations) if (!kept.includes(generation)) removeFromLists(generation.id);
      const all = countOf(countPictures(generations), 'picture');
      if (kept.length > 0)
        notify.failure(`${countPictures(kept)} of ${all} could not be deleted`, {
          description: errorMessage(failure),
        });
      refetchRows(
        LISTS,
        generations.map(({ id }) => id),
      );
    },
  });
}

/** A missing generation counts as deleted. */
async function deleteOne(id: string): Promise<void> {
  try {
    await call(deleteGeneration, { params: { id } });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

/** Removes a generation from the cached lists immediately, before they are reloaded. */
export function removeFromLists(id: string): void {
  queryClient.setQueriesData<GenerationPages>(
    { queryKey: LISTS },
    (data) => data && mapGenerations(data, (all) => all.filter((one) => one.id !== id)),
  );
  queryClient.removeQueries({ queryKey: generationQuery(id).queryKey });
}
