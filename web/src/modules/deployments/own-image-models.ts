import {
  type ImageDeployment,
  type ImageDeploymentKind,
  imageCalls,
} from '@bakehouse/contract/deployments/images';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { readAllPages } from '../../lib/api/read-all-pages.ts';
import { deploymentKinds } from './kinds.ts';
import { usePollMs } from './use-deployments.ts';

const operation = 'fetch deployments';

/**
 * Returns the user's newest usable Kontext deployment, otherwise a pending one. Null if there is no such
 * deployment; undefined while loading or without a user.
 */
export function useActiveKontextDeployment(userId: string | undefined): ImageDeployment | null | undefined {
  const pollMs = usePollMs('image');
  const { data } = useQuery({
    queryKey: ['deployment', 'list', 'flux-kontext', userId, 'active'],
    queryFn: async ({ signal }) => {
      if (userId === undefined) throw new Error('userId is undefined');
      const first = async (query: { only_running?: string; status?: 'running' }) => {
        const input = { params: { userId }, query: { ...query, limit: 1 } };
        const { deployments } = await call(imageCalls['flux-kontext'].list, input, { signal, operation });
        return deployments[0];
      };
      return (await first({ only_running: 'true' })) ?? (await first({ status: 'running' })) ?? null;
    },
    enabled: userId !== undefined,
    refetchInterval: ({ state }) => pollMs(state.data ? [state.data] : []),
  });
  return data;
}

/** Returns the user's usable deployments of a kind; empty while loading or without a user. */
export function useUsableDeployments(
  kind: ImageDeploymentKind,
  userId: string | undefined,
): { models: ImageDeployment[]; isLoading: boolean } {
  const { data, isLoading } = useQuery({
    queryKey: ['deployment', 'list', kind, userId, 'usable'],
    queryFn: async ({ signal }) => {
      if (userId === undefined) throw new Error('userId is undefined');
      const { list } = deploymentKinds[kind].calls;
      const params = { userId };
      const pages = await readAllPages((cursor) =>
        call(list, { params, query: { only_running: 'true', cursor } }, { signal, operation }),
      );
      return pages.flatMap(({ deployments }) => deployments);
    },
    enabled: userId !== undefined,
  });
  return { models: data ?? [], isLoading };
}
